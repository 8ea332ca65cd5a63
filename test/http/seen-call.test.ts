import { expect, it } from "vitest";
import { z } from "zod";
import { documentedCodes } from "../../src/contract/codes.ts";
import { callOutcomes, type SeenCall } from "../../src/http/conclusion.ts";
import { closedRecordCode } from "../../src/engine/plan/owner.ts";
import { refusal, startClient, startService, success, type Reply } from "./scripted-service.ts";

/** What a service or a source may put where a code belongs. */
const hostile = [
  "0 ",
  "60002\n",
  "__proto__",
  "constructor",
  "toString",
  "Mallory Works",
  "x".repeat(9_000),
  "\u202e500",
  '"} 1',
  "99999",
  ...Array.from({ length: 50 }, (_nothing, number) => `order-${number}`),
];

it(
  "observers hear of every attempt, and of a service's codes only those of the contract",
  { tags: "long" },
  async () => {
    const seen: SeenCall[] = [];
    const replies: Reply[] = [
      ...hostile.map((code) => refusal(code)),
      refusal("60000"),
      { status: 429, json: {} },
      { status: 502, text: "" },
      { text: "{" },
      (response) => response.destroy(),
      success([]),
      { status: 401, json: {} },
    ];
    const service = await startService((_asked, count) => replies[count - 1] ?? success([]));
    const client = startClient(
      "order-service",
      service.url,
      { breakerFailures: 1_000, readAttempts: 1, retryBudget: 1_000 },
      { onCall: (call) => seen.push(call) },
    );
    for (const _reply of replies)
      await client
        .read({ endpoint: "E3", target: {}, schema: z.array(z.unknown()), customer: undefined })
        .catch(() => undefined);
    const sent = seen.filter(({ outcome }) => outcome !== "not-sent");
    expect(sent).toHaveLength(service.seen.length);
    expect(sent).toHaveLength(replies.length);
    expect(seen.slice(hostile.length).map(({ outcome }) => outcome)).toEqual([
      "failed",
      "limited",
      "odd",
      "odd",
      "no-answer",
      "done",
      "token",
      // The one token that there is was refused, so that the repetition has none.
      "not-sent",
    ]);
    expect(new Set(seen.slice(0, hostile.length).map(({ outcome, code }) => `${outcome} ${code}`))).toEqual(
      new Set(["failed other"]),
    );
    expect(seen.filter(({ outcome }) => !callOutcomes.includes(outcome))).toEqual([]);
    expect(new Set(sent.map(({ code }) => code))).toEqual(new Set(["other", "none", "0"]));
    expect(sent.filter(({ ms }) => !(ms > 0))).toEqual([]);
    expect(sent.at(-2)).toMatchObject({ service: "order-service", endpoint: "E3", outcome: "done", code: "0" });
  },
);

it("a service that nobody listens at is told apart from one that does not answer, and what is not sent from both", async () => {
  const seen: SeenCall[] = [];
  const settings = { breakerFailures: 1, readAttempts: 1 };
  const client = startClient("member-center", "http://127.0.0.1:9", settings, { onCall: (call) => seen.push(call) });
  for (let number = 0; number < 3; number += 1)
    await client
      .read({ endpoint: "M5", target: { enterpriseGlobalId: "e" }, schema: z.unknown(), enterprise: "e" })
      .catch(() => undefined);
  expect(seen.map(({ outcome, code }) => `${outcome} ${code}`)).toEqual([
    "unreached none",
    "not-sent circuit-open",
    "not-sent circuit-open",
  ]);
});

it("a record's code is one of the program, of the contract, or another one of its family", () => {
  const known = hostile.map((code) => closedRecordCode(code));
  expect(new Set(known)).toEqual(new Set(["other"]));
  expect(new Set(hostile.map((code) => closedRecordCode(`rejected.${code}`)))).toEqual(new Set(["rejected.other"]));
  for (const code of documentedCodes) expect(closedRecordCode(`rejected.${code}`)).toBe(`rejected.${code}`);
  for (const code of ["missing", "claimed-twice", "order.moving", "customer.blocked", "service.not-sent"])
    expect(closedRecordCode(code)).toBe(code);
  expect(closedRecordCode("staff.Mallory")).toBe("staff.other");
});
