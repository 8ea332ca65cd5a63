import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/canonical-json.ts";
import {
  assignment,
  needs,
  lines,
  member,
  outcomes,
  people,
  plan,
  settingsWith,
  shown,
  situation,
  staff,
  staffLink,
  staffLinks,
  staffOutcome,
  wireOf,
  type StaffFields,
} from "../../engine/situation.ts";
import type { CustomerPlan } from "../../../src/engine/plan/plan.ts";
import type { ObservedMember } from "../../../src/platform/snapshot.ts";

function never(): never {
  throw new Error("the person has no link");
}

describe("a staff record", () => {
  it("that M5 does not show is added by M1, with all that the CRM says and a generated password", () => {
    const ann = staff("ann", { remark: "north", departmentId: "9007199254740993", mobile: "+49 170 1" });
    const planned = plan(people({ staff: [ann, staff("bob")], observed: shown([]) }));
    expect(lines(planned)).toEqual(["add-staff staff-of:crm/ALFKI"]);
    const [add] = planned.operations;
    expect(add?.records).toEqual([
      { stream: "staff", namespace: "crm", id: "ann" },
      { stream: "staff", namespace: "crm", id: "bob" },
    ]);
    expect(add && wireOf(add, situation(people({})).known)).toEqual({
      userList: [
        {
          userName: "ann",
          password: "password of crm/ann",
          departmentId: "9007199254740993",
          name: "CANARY person ann",
          remark: "north",
          passwordMobile: "+49 170 1",
        },
        {
          userName: "bob",
          password: "password of crm/bob",
          name: "CANARY person bob",
          remark: "CANARY remark",
          passwordMobile: "491770070003",
        },
      ],
    });
  });

  it("gets the default department where the CRM names none, as a number", () => {
    const settings = settingsWith({ defaultDepartmentId: "42" });
    const [add] = plan(people({ staff: [staff("ann")], observed: shown([]) }), { settings }).operations;
    expect(add && wireOf(add, situation(people({})).known)).toMatchObject({ userList: [{ departmentId: 42 }] });
  });

  it("brings its own password where the configuration takes it from the CRM, and waits without one", () => {
    const settings = settingsWith({ passwordSource: "crm" });
    const planned = plan(
      people({ staff: [staff("ann", { password: "Canary-77" }), staff("bob")], observed: shown([]) }),
      { settings },
    );
    expect(planned.operations[0] && wireOf(planned.operations[0], situation(people({})).known)).toMatchObject({
      userList: [{ password: "Canary-77" }],
    });
    expect(outcomes(planned)).toContain("staff crm/bob deferred staff.no-password");
  });

  it("waits where no key seals passwords, and everything else goes on", () => {
    const bob = staff("bob", { assets: [{ assetNumber: "N1" }] });
    const planned = plan(
      people({
        staff: [staff("ann"), bob],
        known: { staffLinks: staffLink(bob) },
        observed: shown(["bob"], { N1: null }),
      }),
      { canSeal: false },
    );
    expect(lines(planned)).toEqual(["grant-assets staff:crm/bob N1"]);
    expect(planned.records.find((item) => item.key.id === "ann")).toMatchObject({
      code: "staff.no-sealing-key",
      again: true,
    });
  });

  it("goes in calls of 100 at most, in one order, each person once", () => {
    const many = Array.from({ length: 201 }, (_, index) => staff(`user${String(index).padStart(3, "0")}`));
    const planned = plan(people({ staff: many, observed: shown([]) }));
    expect(planned.operations.map((item) => item.records.length)).toEqual([100, 100, 1]);
    expect(planned.operations.flatMap((item) => item.records.map((record) => record.id))).toEqual(
      many.map((item) => item.key.id),
    );
    expect(new Set(planned.operations.map((item) => item.hash)).size).toBe(3);
    expect(plan(people({ staff: many.slice(0, 100), observed: shown([]) })).operations).toHaveLength(1);
  });

  it("that is gone from the CRM or in quarantine is not added", () => {
    const planned = plan(
      people({
        staff: [staff("ann", {}, { state: "absent" }), staff("bob", {}, { state: "quarantined" })],
        observed: shown([]),
      }),
    );
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual(["customers crm/ALFKI planned", "staff crm/ann planned"]);
  });

  it("is not taken for new where the staff list was not read", () => {
    const planned = plan(people({ staff: [staff("ann")], observed: { members: undefined, assets: undefined } }));
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toContain("staff crm/ann deferred staff.not-read");
  });
});

describe("a staff record that the platform shows already", () => {
  const adopted = (userName: string, id: string) =>
    expect.objectContaining({
      type: "staff-linked",
      memberGlobalId: id,
      origin: "adopted",
      staff: { namespace: "crm", id: userName },
    });

  it("is adopted by its account name with the known enterprise code", () => {
    const planned = plan(
      people({
        staff: [staff("ann")],
        known: { enterpriseCode: "X7" },
        observed: { members: [member("ann", { name: "Somebody" })], assets: [] },
      }),
    );
    expect(planned.operations).toEqual([]);
    expect(planned.changes).toEqual([adopted("ann", "M-ann")]);
  });

  it("is adopted by its bare account name", () => {
    const planned = plan(
      people({
        staff: [staff("ann")],
        observed: { members: [member("ann", { userName: "ann", name: "Somebody" })], assets: [] },
      }),
    );
    expect(planned.changes).toEqual([adopted("ann", "M-ann")]);
  });

  it("is adopted by account and person's name together where the code is not known", () => {
    const of = (name: string) =>
      plan(people({ staff: [staff("ann")], observed: { members: [member("ann", { name })], assets: [] } }));
    expect(of("CANARY person ann").changes).toEqual([adopted("ann", "M-ann")]);
    expect(of("Another").changes).toEqual([]);
    expect(lines(of("Another"))).toEqual(["add-staff staff-of:crm/ALFKI"]);
  });

  it("is told apart from one whose name goes on: ann, anna and annabel", () => {
    const members = [member("anna"), member("annabel"), member("ann")];
    for (const enterpriseCode of [undefined, "X7"]) {
      const planned = plan(
        people({
          staff: [staff("ann"), staff("anna"), staff("annabel")],
          known: { enterpriseCode },
          observed: { members, assets: [] },
        }),
      );
      expect(planned.changes).toEqual([
        adopted("ann", "M-ann"),
        adopted("anna", "M-anna"),
        adopted("annabel", "M-annabel"),
      ]);
    }
    const alone = plan(
      people({ staff: [staff("ann")], observed: { members: [member("anna"), member("annabel")], assets: [] } }),
    );
    expect(alone.changes).toEqual([]);
    expect(lines(alone)).toEqual(["add-staff staff-of:crm/ALFKI"]);
  });

  it("is not found behind a suffix longer than an enterprise code can be", () => {
    const members = [member("ann", { userName: `ann${"x".repeat(21)}` })];
    expect(plan(people({ staff: [staff("ann")], observed: { members, assets: [] } })).changes).toEqual([]);
    const settings = settingsWith({ enterpriseCodeMaxLength: 21 });
    expect(
      plan(people({ staff: [staff("ann")], observed: { members, assets: [] } }), { settings }).changes,
    ).toHaveLength(1);
  });

  it("twice, bare and with the code, waits for a person", () => {
    const members = [member("ann"), member("ann", { userName: "ann", globalId: "M-2" })];
    const planned = plan(
      people({ staff: [staff("ann")], known: { enterpriseCode: "X7" }, observed: { members, assets: [] } }),
    );
    expect([planned.operations, planned.changes]).toEqual([[], []]);
    expect(staffOutcome(planned)).toMatchObject({ code: "staff.ambiguous", again: true });
  });

  it("as the same member as another record fits, is adopted by neither", () => {
    const planned = plan(
      people({
        staff: [staff("ann"), staff("annX7")],
        known: { enterpriseCode: "X7" },
        observed: { members: [member("ann")], assets: [] },
      }),
    );
    expect([planned.operations, planned.changes]).toEqual([[], []]);
    expect(outcomes(planned)).toEqual([
      "customers crm/ALFKI planned",
      "staff crm/ann deferred staff.ambiguous",
      "staff crm/annX7 deferred staff.ambiguous",
    ]);
  });

  it("as a member that belongs to another record, is not adopted", () => {
    const other = staff("other");
    const planned = plan(
      people({
        staff: [staff("ann"), other],
        known: { enterpriseCode: "X7", staffLinks: staffLink(other, "M-ann") },
        observed: { members: [member("ann")], assets: [] },
      }),
    );
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toContain("staff crm/ann deferred staff.member-taken");
  });

  it("as a deleted row only, is absent there and is added", () => {
    const planned = plan(
      people({ staff: [staff("ann")], observed: { members: [member("ann", { deleted: true })], assets: [] } }),
    );
    expect(lines(planned)).toEqual(["add-staff staff-of:crm/ALFKI"]);
  });

  it("shares no account name with another record of the customer", () => {
    const planned = plan(people({ staff: [staff("ann"), staff("ann", { id: "second" })], observed: shown([]) }));
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual([
      "customers crm/ALFKI planned",
      "staff crm/ann deferred staff.same-account",
      "staff crm/second deferred staff.same-account",
    ]);
  });
});

describe("a linked staff record", () => {
  const ann = staff("ann");

  it("is not looked for by name again", () => {
    const planned = plan(
      people({
        staff: [ann],
        known: { staffLinks: staffLink(ann, "M-9") },
        observed: { members: [member("other", { globalId: "M-9" })], assets: [] },
      }),
    );
    expect([planned.operations, planned.changes]).toEqual([[], []]);
    expect(outcomes(planned)).toContain("staff crm/ann planned");
  });

  /** Ann as the CRM has her now, in a second version; M5 shows her as she was linked, changed by `member`. */
  function edited(
    fields: StaffFields,
    {
      settings = {},
      shownAs = {},
      before = {},
    }: { settings?: JsonObject; shownAs?: Partial<ObservedMember>; before?: StaffFields } = {},
  ): CustomerPlan {
    const was = staff("ann", { remark: undefined, mobile: undefined, ...before });
    const now = staff("ann", { remark: undefined, mobile: undefined, ...before, ...fields, id: "ann" }, { version: 2 });
    const [link] = staffLink(was).values();
    const isRenamed = now.body.userName.commitment !== was.body.userName.commitment;
    const staffLinks = new Map([
      ["crm/ann", { ...(link ?? never()), ...(isRenamed ? { login: was.body.userName } : {}) }],
    ]);
    const given = people({
      staff: [now],
      known: { staffLinks, enterpriseCode: "X7" },
      observed: { members: [member("ann", shownAs)], assets: [] },
    });
    return plan(given, { settings: settingsWith(settings) });
  }
  const bound = (planned: CustomerPlan): unknown => {
    const [first] = planned.operations;
    return first && wireOf(first, { ...situation(people({})).known });
  };

  it.each<[StaffFields, object]>([
    [{ name: "Ann Other" }, { name: "Ann Other", remark: "old note", passwordMobile: "1390", departmentId: 7 }],
    [{ remark: "new" }, { name: "CANARY person ann", remark: "new", passwordMobile: "1390", departmentId: 7 }],
    [{ mobile: "1391" }, { name: "CANARY person ann", remark: "old note", passwordMobile: "1391", departmentId: 7 }],
    [
      { departmentId: "99" },
      { name: "CANARY person ann", remark: "old note", passwordMobile: "1390", departmentId: 99 },
    ],
  ])("that is described otherwise now (%o) is edited by one M2 with all that is known", (fields, wire) => {
    const planned = edited(fields, { before: { remark: "old note", mobile: "1390", departmentId: "7" } });
    expect(lines(planned)).toEqual(["edit-staff profile:crm/ann"]);
    expect(planned.operations[0]).toMatchObject({ target: { memberGlobalId: "M-ann" }, stage: "staff" });
    expect(bound(planned)).toEqual({ userName: "ann", ...wire });
    expect(staffOutcome(planned)).toMatchObject({ outcome: "planned" });
  });

  it("whose account name changed is told of, and what else changed goes out under the old one", () => {
    expect(lines(edited({ userName: "ann2" }))).toEqual([]);
    const planned = edited({ userName: "ann2", name: "Ann Other" });
    expect(bound(planned)).toMatchObject({ userName: "ann", name: "Ann Other" });
    expect(planned.operations[0]?.after).toMatchObject({ userName: ann.body.userName.commitment });
    expect(staffOutcome(planned)).toMatchObject({ outcome: "deferred", code: "staff.login-changed", again: false });
  });

  it("is not edited where M5 shows the member under another account name, or under another ending", () => {
    for (const userName of ["bobX7", "annX8", "anna"]) {
      const planned = edited({ name: "Ann Other" }, { shownAs: { userName } });
      expect([lines(planned), staffOutcome(planned)?.code]).toEqual([[], "staff.other-account"]);
    }
    expect(lines(edited({ name: "Ann Other" }, { shownAs: { userName: "ann" } }))).toHaveLength(1);
  });

  it("is not edited where M5 does not show the member at all, or the account came with the enterprise", () => {
    expect(lines(edited({ name: "Ann Other" }, { shownAs: { deleted: true } }))).toEqual([]);
    const now = staff("ann", { name: "Ann Other" }, { version: 2 });
    const known = { staffLinks: staffLink(ann), protectedMembers: new Set(["M-ann"]) };
    const planned = plan(people({ staff: [now], known, observed: shown(["ann"]) }));
    expect([lines(planned), staffOutcome(planned)?.code]).toEqual([[], "staff.protected"]);
  });

  describe("of whom the CRM no longer gives a note", () => {
    const before = { remark: "old note", mobile: "1390" };
    const gone = { remark: undefined };

    it("keeps it and is told of, and an M2 for something else leaves it out", () => {
      const shownAs = { remark: "old note", mobile: "1390" };
      const alone = edited(gone, { before, shownAs });
      expect([lines(alone), staffOutcome(alone)?.code]).toEqual([[], "staff.not-cleared"]);
      const both = edited({ ...gone, name: "Ann Other" }, { before, shownAs });
      expect(bound(both)).toEqual({ userName: "ann", name: "Ann Other", passwordMobile: "1390" });
      expect(staffOutcome(both)?.code).toBe("staff.not-cleared");
    });

    it("is as the CRM says once M5 does not show the note any more", () => {
      const planned = edited(gone, { before, shownAs: { remark: "", mobile: "1390" } });
      expect(planned.changes).toEqual([
        expect.objectContaining({ type: "staff-edited", profile: expect.objectContaining({ remark: null }) }),
      ]);
      expect(staffOutcome(planned)?.outcome).toBe("planned");
    });

    it("has it emptied by M2 where the configuration says so", () => {
      const planned = edited(gone, {
        before,
        shownAs: { remark: "old note", mobile: "1390" },
        settings: { clearedStaffFields: "empty" },
      });
      expect(bound(planned)).toEqual({
        userName: "ann",
        name: "CANARY person ann",
        remark: "",
        passwordMobile: "1390",
      });
    });
  });

  it("is not edited where that might clear what the platform alone has, unless M2 is known to keep it", () => {
    const shownAs = { mobile: "1777", departmentId: "12" };
    const planned = edited({ name: "Ann Other" }, { shownAs });
    expect([lines(planned), staffOutcome(planned)?.code]).toEqual([[], "staff.would-clear"]);
    const kept = edited({ name: "Ann Other" }, { shownAs, settings: { leftOutStaffFields: "kept" } });
    expect(bound(kept)).toEqual({ userName: "ann", name: "Ann Other", departmentId: 12 });
  });

  it("that M2 set counts as agreed once M5 shows it, and is never sent a second time where it does not", () => {
    const now = staff("ann", { name: "Ann Other" }, { version: 3 });
    const [link] = staffLink(now).values();
    const unread = { ...(link ?? never()).profile, unread: ["name" as const] };
    const staffLinks = new Map([["crm/ann", { ...(link ?? never()), profile: unread }]]);
    const shownAs = (name: string): CustomerPlan =>
      plan(
        people({ staff: [now], known: { staffLinks }, observed: { members: [member("ann", { name })], assets: [] } }),
      );
    expect(shownAs("Ann Other").changes).toEqual([
      { type: "staff-edited", staff: now.key, customer: { namespace: "crm", id: "ALFKI" }, profile: link?.profile },
    ]);
    const other = shownAs("Ann");
    expect([lines(other), other.changes, staffOutcome(other)?.code]).toEqual([[], [], "staff.shown-otherwise"]);
    // A text that the platform masks says nothing.
    expect(shownAs("Ann***").changes).toHaveLength(1);
  });

  it("is not taken for an account that came with the enterprise, and is not added beside it", () => {
    const planned = plan(
      people({
        staff: [ann],
        known: { protectedMembers: new Set(["M-ann"]) },
        observed: shown(["ann"], {}),
      }),
    );
    expect(lines(planned)).toEqual([]);
    expect(staffOutcome(planned)).toMatchObject({ code: "staff.protected", again: true });
  });

  it("whose account somebody deleted waits, and is not added a second time", () => {
    for (const members of [[], [member("ann", { deleted: true })]]) {
      const planned = plan(
        people({
          staff: [staff("ann", { assets: [{ assetNumber: "N1" }] })],
          known: { staffLinks: staffLink(ann) },
          observed: { members, assets: [] },
        }),
      );
      expect(planned.operations).toEqual([]);
      expect(outcomes(planned)).toContain("staff crm/ann deferred staff.not-shown");
    }
  });
});

describe("the staff and the asset numbers of an enterprise", () => {
  it("are read only where a staff record waits, or where everything is to be looked at", () => {
    const reads = (pending: boolean, thorough: boolean, state: "current" | "quarantined" = "current") =>
      needs(situation(people({ staff: [staff("ann", {}, { pending, state })] })), thorough).people;
    expect([reads(true, false), reads(false, false), reads(false, true), reads(true, false, "quarantined")]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(needs(situation({ staff: [staff("ann")] }), true).people).toBe(false);
    expect(needs(situation(people({})), true).people).toBe(false);
  });

  it("that could not be read keep waiting who holds an asset here and belongs elsewhere now, although nobody else changed", () => {
    const [ann, bob] = [staff("ann", {}, { pending: false }), staff("bob")];
    const block = { code: "service.unreadable", reason: "M5 gave nothing", again: true };
    const planned = plan({
      ...people({ staff: [ann], known: { staffLinks: staffLinks(ann), assignments: [assignment(bob, "N1")] } }),
      observed: { unread: { people: block } },
    });
    expect(planned.records.find(({ code }) => code === block.code)?.reason).toContain("crm/bob");
  });

  it("leave a customer alone whose staff did not change", () => {
    const ann = staff("ann", {}, { pending: false });
    const planned = plan(people({ staff: [ann], known: { staffLinks: staffLinks(ann) } }));
    expect(planned.operations).toEqual([]);
    expect(outcomes(planned)).toEqual(["customers crm/ALFKI planned"]);
  });
});
