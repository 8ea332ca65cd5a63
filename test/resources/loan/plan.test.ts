import { describe, expect, it } from "vitest";
import { metByBlocks } from "../../../src/engine/model/assumptions-met.ts";
import type { Rejection } from "../../../src/engine/plan/input.ts";
import { refusedParts, settingsFingerprint } from "../../../src/engine/plan/rejections.ts";
import {
  assignment,
  member,
  people,
  plan,
  settingsWith,
  staff,
  staffLink,
  staffOutcome,
  type Situation,
} from "../../engine/situation.ts";
import { shownAsset } from "../../support/world/records.ts";
import { standardPolicies } from "../../support/world/rules.ts";

const held = { assets: [{ assetNumber: "N1" }] };
const borrowing = { ...held, borrows: [{ lock: "U1", ...held }] };
const policies = { ...standardPolicies, loans: { lent: "report" as const } };

describe("a person for whom the CRM wants a loan, and whose account waits for something", () => {
  const eve = staff("eve", { name: "After", ...borrowing }, { version: 2 });

  function situation(
    shown: { name: string; lent?: boolean },
    links = staffLink(staff("eve", { name: "Before", ...held })),
  ): Situation {
    const { name, lent = false } = shown;
    return people({
      staff: [eve],
      known: { staffLinks: links, assignments: [assignment(eve, "N1")] },
      observed: {
        members: [member("eve", { assetNums: ["N1"], name })],
        assets: [shownAsset("N1", { holder: "M-eve" })],
        loans: [{ lock: "U1", assetId: "id-U1", lent, borrower: lent ? "M-other" : null }],
      },
    });
  }

  it("is rejected if the service rejected the M2, whatever the policy says of the loan", () => {
    const given = situation({ name: "Before" });
    const edits = plan(given, { policies }).operations.filter(({ kind }) => kind === "edit-staff");
    expect(edits).toHaveLength(1);
    const rejections = edits.flatMap((operation) =>
      refusedParts(operation).map(({ record, hash }): Rejection => {
        const of = {
          record,
          hash,
          kind: operation.kind,
          settings: settingsFingerprint(settingsWith()),
          operationId: "op",
        };
        return { ...of, code: "rejected.30002", reason: "name too long", shared: false };
      }),
    );
    const outcome = staffOutcome(plan({ ...given, rejections }, { policies }));
    expect(outcome).toMatchObject({ outcome: "rejected", code: "rejected.30002" });
  });

  it("is looked at again if the M2 waits for a contradicted assumption", () => {
    const contradicted = new Map([["A3" as const, { evidence: "x", about: [], since: "2026-01-01T00:00:00.000Z" }]]);
    expect(staffOutcome(plan(situation({ name: "Before" }), { policies, contradicted }))).toMatchObject({
      again: true,
    });
  });

  it("contradicts A41 if M5 shows otherwise what M2 set", () => {
    const [[key, link] = ["", undefined]] = staffLink(eve);
    const links = new Map(
      link === undefined ? [] : [[key, { ...link, profile: { ...link.profile, unread: ["name" as const] } }]],
    );
    const planned = plan(situation({ name: "Somebody else", lent: true }, links));
    expect(metByBlocks(planned).map(({ row }) => row)).toEqual(["A41"]);
  });
});
