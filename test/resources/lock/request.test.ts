import { expect, test } from "vitest";
import { applyChanges, type Known, type StateChange } from "../../../src/engine/model/state.ts";
import { theCrm, type RequestIn } from "../../../src/engine/model/requests.ts";
import { planRequested } from "../../../src/engine/plan/requested.ts";
import { planCustomer } from "../../../src/engine/plan/plan.ts";
import { StandingRejections } from "../../../src/engine/plan/rejections.ts";
import { standardRules } from "../../support/world/rules.ts";
import { customer, customerKey, linked, settingsWith, settingsWithout, situation } from "../../engine/situation.ts";

const settings = settingsWith({ operatorIdentity: "licence desk" });
const nothingRefused = new StandingRejections([], { ...standardRules, settings });

type Wanted = RequestIn<"lock">["wanted"];

function wish(about: string, wanted: Wanted): StateChange {
  const details = { licenseType: "normal_recover_usbkey" as const, largeCustomer: false };
  const request = { of: "lock" as const, about, wanted, details, by: "anna.lee", reason: "stolen" };
  return { type: "request-made", customer: customerKey, request };
}

function answer(about: string, wanted: Wanted, status: 1 | 2 | 3 | 4): StateChange {
  return { type: "request-answered", of: "lock", about, wanted, answer: { status }, operationId: "op" };
}

/** What is known of a customer after these, one after the other. */
function after(...changes: StateChange[]): { customer: typeof customerKey; known: Known } {
  const { known } = situation({});
  const at = (index: number): string => new Date(Date.UTC(2026, 9, 1, 0, 0, index)).toISOString();
  const all = changes.reduce(
    (before, change, index) => applyChanges(before, [change], { customer: customerKey, at: at(index) }),
    known,
  );
  return { customer: customerKey, known: all };
}

function planned(changes: StateChange[], tried: string[] = [], with_ = settings) {
  const stage = planRequested(after(...changes), with_, { rejections: nothingRefused, tried: new Set(tried) });
  return {
    sent: stage.operations.map(({ endpoint, subject, payload }) => ({ endpoint, subject, payload })),
    block: stage.block?.code,
    hashes: stage.operations.map(({ hash }) => hash),
  };
}

const sent = (endpoint: string, ...assetNums: string[]) => ({
  endpoint,
  subject: "locks:crm/ALFKI",
  payload: { assetNums, operatorIdentity: "licence desk" },
});

test("what is asked for is sent, each direction in one call and both under one subject", () => {
  const asked = [wish("2", "locked"), wish("1", "locked"), wish("3", "unlocked")];
  expect(planned(asked).sent).toEqual([sent("E6", "1", "2"), sent("E7", "3")]);
});

test("no call names more locks than a hundred: the rest is sent with the next one", () => {
  const numbers = Array.from({ length: 201 }, (_, index) => `8${String(index).padStart(3, "0")}`);
  const calls = planned(numbers.map((number) => wish(number, "unlocked"))).sent;
  expect(calls).toEqual([
    sent("E7", ...numbers.slice(0, 100)),
    sent("E7", ...numbers.slice(100, 200)),
    sent("E7", ...numbers.slice(200)),
  ]);
});

test("what was answered is not sent again: done is over, 3 is tried once in an attempt, 2 and 4 wait for a person", () => {
  const asked = [wish("1", "locked"), wish("2", "locked")];
  expect(planned([...asked, answer("1", "locked", 1), answer("2", "locked", 1)])).toMatchObject({ sent: [] });
  const failed = [...asked, answer("1", "locked", 1), answer("2", "locked", 3)];
  expect(planned(failed)).toMatchObject({ sent: [sent("E6", "2")], block: "request.failed" });
  expect(planned(failed, ["locks:crm/ALFKI"])).toMatchObject({ sent: [], block: "request.failed" });
  for (const status of [2, 4] as const) {
    const wrong = [...asked, answer("1", "locked", status), answer("2", "locked", 3)];
    expect(planned(wrong)).toMatchObject({ sent: [sent("E6", "2")], block: "request.refused" });
  }
});

test("a late answer to what was asked for before says nothing of what is asked for now", () => {
  const turned = [wish("1", "locked"), wish("1", "unlocked"), answer("1", "locked", 1)];
  expect(planned(turned).sent).toEqual([sent("E7", "1")]);
});

test("what is asked for anew is another operation, and what is taken back is none", () => {
  const [first] = planned([wish("1", "locked")]).hashes;
  const [again] = planned([wish("2", "locked"), wish("1", "locked"), answer("2", "locked", 1)]).hashes;
  expect(again).not.toBe(first);
  const back: StateChange = { type: "request-withdrawn", customer: customerKey, of: "lock", about: "1" };
  expect(planned([wish("1", "locked"), back])).toEqual({ sent: [], block: undefined, hashes: [] });
});

test("what is already requested for a customer that is gone from the CRM is sent, and of one in quarantine it waits", () => {
  const { requests } = after(wish("1", "locked")).known;
  const kinds = (state: "absent" | "quarantined"): string[] => {
    const input = situation({ known: linked(customer(), { requests }), customer: customer({}, { state }) });
    const { operations } = planCustomer(input, { ...standardRules, settings });
    return operations.map(({ kind }) => kind);
  };
  expect([kinds("absent"), kinds("quarantined")]).toEqual([["lock-assets"], []]);
});

test("what a customer waits for itself is not hidden by a lock that was refused", () => {
  const { requests } = after(wish("1", "locked"), answer("1", "locked", 4)).known;
  const codes = (acknowledged: string): (string | undefined)[] => {
    const known = linked(customer({ branchName: acknowledged }), { requests });
    if (known.link !== undefined) known.link.origin = "bound";
    const input = situation({ known, customer: customer({ branchName: "Now" }) });
    const { records } = planCustomer(input, { ...standardRules, settings });
    return records.map(({ code }) => code);
  };
  expect(codes("Before")).toEqual(["enterprise.bound"]);
  expect(codes("Now")).toEqual([undefined, "request.refused"]);
});

test("nothing is sent without the role that asks for it (A40)", () => {
  expect(planned([wish("1", "locked")], [], settingsWithout("operatorIdentity"))).toMatchObject({
    sent: [],
    block: "assumption.missing",
  });
});

test("limits count no lock that a person asked to have disabled, and each that the CRM wants disabled", () => {
  const byCrm = wish("2", "locked");
  if (byCrm.type === "request-made") byCrm.request.by = theCrm;
  const { operations } = planRequested(after(wish("1", "locked"), byCrm), settings, {
    rejections: nothingRefused,
    tried: new Set(),
  });
  expect(operations.map(({ payload, takesAway }) => [payload, takesAway])).toEqual([
    [sent("E6", "1").payload, 0],
    [sent("E6", "2").payload, 1],
  ]);
});
