import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createLeapClock, refusal, startClient, startService, success, type Reply } from "./scripted-service.ts";

/** What never ends where a probe is not given back would hold the test for minutes. */
const soon = { timeout: 20_000 };
const call = {
  endpoint: "E2",
  target: {},
  schema: z.looseObject({ enterpriseGlobalId: z.string() }),
  nonce: "n",
  body: { crmCustomerId: "C1", customerName: "Works", branchName: "North" },
} as const;
const done = success({ enterpriseGlobalId: "e1" });

/** A service that failed once, so that its circuit opened, and that a next call may try; then it answers so. */
async function tryable(...replies: Reply[]) {
  const clock = createLeapClock();
  const service = await startService((_asked, count) =>
    count === 1 ? { status: 502, text: "down" } : (replies[count - 2] ?? done),
  );
  const settings = { breakerFailures: 1, breakerOpenMs: 1_000, callsAtOnce: 4 };
  const client = startClient("order-service", service.url, settings, { clock });
  expect((await client.write(call)).kind).toBe("unknown");
  expect(client.state().circuit.state).toBe("open");
  clock.pass(1_000);
  return { client, service };
}

describe("a write that tries a service again", () => {
  test("is sent, and those that come meanwhile wait for what becomes of it", soon, async () => {
    const { client, service } = await tryable();
    let other: ReturnType<typeof client.write> | undefined;
    const beforeSending = async (): Promise<void> => {
      other = client.write(call);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(service.seen).toHaveLength(1);
    };
    expect((await client.write({ ...call, beforeSending })).kind).toBe("done");
    expect((await other)?.kind).toBe("done");
    expect([service.seen.length, client.state().circuit.state]).toEqual([3, "closed"]);
  });

  test("and whose intent is refused lets the next one try", soon, async () => {
    const { client } = await tryable();
    const refused = client.write({ ...call, beforeSending: () => Promise.reject(new Error("taken over")) });
    await expect(refused).rejects.toThrow("taken over");
    expect((await client.write(call)).kind).toBe("done");
  });

  test("and is stopped while its intent is committed lets the next one try", soon, async () => {
    const { client } = await tryable();
    const stop = new AbortController();
    const stopping = (): Promise<void> => Promise.resolve(stop.abort());
    expect(await client.write({ ...call, beforeSending: stopping, signal: stop.signal })).toMatchObject({
      kind: "not-sent",
    });
    expect((await client.write(call)).kind).toBe("done");
  });

  test("and was held up too long to leave lets the next one try", soon, async () => {
    const { client, service } = await tryable();
    expect((await client.write({ ...call, mayLeave: () => false })).kind).toBe("not-sent");
    expect((await client.write(call)).kind).toBe("done");
    expect(service.seen).toHaveLength(2);
  });

  test.each<[string, Reply, "done" | "not-sent"]>([
    ["that there are too many calls", { status: 429, json: {} }, "done"],
    // The client has one token, which is fixed: without a good one nothing is sent.
    ["that its token is not good", { status: 401, json: {} }, "not-sent"],
    ["something that is no answer", { status: 200, text: '{"code":0,"mess' }, "not-sent"],
  ])("and hears %s is over: nobody waits for it", soon, async (_what, reply, next) => {
    const { client } = await tryable(reply);
    expect((await client.write(call)).kind).toBe("unknown");
    expect(client.state().circuit.state).toBe("open");
    expect((await client.write(call)).kind).toBe(next);
  });

  test("and hears by a code that its token is not good is over too", soon, async () => {
    const { client } = await tryable(refusal("60000"));
    expect((await client.write({ ...call, endpoint: "M9", target: { memberGlobalId: "m" } })).kind).not.toBe("done");
    expect(client.state().circuit.state).toBe("open");
  });

  test("and fails opens the circuit again, also for those that waited", soon, async () => {
    const { client } = await tryable(refusal("500"));
    expect((await client.write(call)).kind).toBe("unknown");
    expect(client.state().circuit.state).toBe("open");
    expect((await client.write(call)).kind).toBe("not-sent");
  });
});

test("a write that is lost after its run was stopped counts against the service, as any other", async () => {
  const stop = new AbortController();
  const service = await startService(() => (response) => {
    stop.abort();
    response.socket?.destroy();
  });
  const client = startClient("order-service", service.url, { breakerFailures: 1, breakerOpenMs: 60_000 });
  expect((await client.write({ ...call, signal: stop.signal })).kind).toBe("unknown");
  expect(client.state().circuit.state).toBe("open");
});
