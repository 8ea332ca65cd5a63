import { describe, expect, it } from "vitest";
import { startService, type Answer } from "./http-service.ts";
import { customersOver } from "./http-source.ts";
import { readAll } from "./support.ts";

async function problemOf(answer: Answer, stream: object = {}): Promise<{ code: string; message: string } | undefined> {
  const service = await startService(() => answer);
  const { outcome } = await readAll(customersOver(service.origin, stream, { retries: 1 }), "customers");
  expect(outcome.complete).toBe(false);
  return outcome.problem;
}

describe("why a list could not be read is told in words", () => {
  it("where its connection breaks off in the middle of an answer, with the code behind them", async () => {
    const problem = await problemOf({ breakOff: true });
    expect(problem).toMatchObject({ code: "source.down" });
    expect(problem?.message).toMatch(
      /the connection broke off in the middle of the answer \((?:UND_ERR|ECONN)\w+\)\.$/u,
    );
  });

  it("where nothing listens there", async () => {
    const { outcome } = await readAll(customersOver("http://127.0.0.1:1", {}, { retries: 0 }), "customers");
    expect(outcome.problem?.message).toContain("nothing listens at this address (ECONNREFUSED)");
  });

  it("of the service itself where its answer holds no list, without what is private in them", async () => {
    const message = "Your licence ended. Ask Wanda Fremdling, zqcanary@example.com or +49 170 1234567.";
    for (const [body, records] of [
      [{ success: false, message }, "items"],
      [{ ok: 0, error_description: message }, "data.items"],
      [{ detail: message }, undefined],
    ] as const) {
      const problem = await problemOf({ body }, records === undefined ? {} : { records });
      expect(problem).toMatchObject({ code: "source.wrong-shape" });
      expect(problem?.message).toMatch(/without a list at .*; it says "Your licence ended/u);
      expect(problem?.message).not.toMatch(/Wanda|Fremdling|zqcanary|1234567/u);
    }
    expect((await problemOf({ body: { rows: [] } }, { records: "items" }))?.message).toMatch(/at items\.$/u);
  });
});
