import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callerOf } from "../sandbox/caller.ts";
import { canary } from "../support/world/crm.ts";
import { document, world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { folder, rowsOf } from "../support/world/start.ts";

async function synchronised(): Promise<World> {
  const w = await world();
  const first = await w.run("run", "everything");
  expect(first.exitCode, first.stdout + first.stderr).toBe(0);
  return w;
}

/**
 * The assets that the platform shows (M6) of a customer's enterprise, with their holders, in order of their numbers.
 */
async function shown(w: World, customer: string): Promise<{ assetNum: string; holder: string | null }[]> {
  const [link] = w.rows<{ id: string }>(
    "select enterprise_global_id as id from link where to_at is null and customer_id = ?",
    customer,
  );
  const reply = await callerOf(w.sandbox.url).member("GET", `/enterprise/${link?.id ?? ""}/asset/assetNums`);
  return reply.data.map((row: { assetNum: string; cloudAccountGlobalId: string | null }) => ({
    assetNum: row.assetNum,
    holder: row.cloudAccountGlobalId,
  }));
}

describe("one edited line of the CRM", () => {
  it("changes nothing when nothing was edited", async () => {
    const w = await synchronised();
    const before = w.sandbox.counts().calls;
    const again = await w.run("--json", "run", "everything");
    expect(again.exitCode).toBe(0);
    expect(document(again)).toMatchObject({ writingCalls: 0, state: "done", balance: { adds: true } });
    expect(w.sandbox.counts().calls, "unchanged customers cost no call at all").toEqual(before);
  });

  it("that is a new order places exactly this order", { tags: "long" }, async () => {
    const w = await synchronised();
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
    w.write();
    const { result, calls } = await w.writes(() => w.run("run", "customers-and-orders"));
    expect(result.exitCode).toBe(0);
    expect(calls).toEqual({ E5: 1 });
    expect(result.stdout).toContain("writing calls: 1");
    expect(w.sandbox.batches("O3")).toHaveLength(1);
    expect(w.sandbox.state().assets).toBe(5);
  });

  it(
    "that is a customer's name, branch or address updates exactly this customer, through E4",
    { tags: "long" },
    async () => {
      const store = join(folder(), "sandbox.db");
      const w = await world({ sandbox: { store } });
      expect((await w.run("run", "everything")).exitCode).toBe(0);
      const { name, branch, address } = { name: `${canary.name} renamed`, branch: "South", address: "Another road 8" };
      w.customers = w.customers.map((row) => (row.id === "C1" ? { ...row, name, branch, address } : row));
      w.write();
      const { result, calls } = await w.writes(() => w.run("run", "customers-and-orders"));
      expect(result.exitCode).toBe(0);
      expect(calls).toEqual({ E4: 1 });
      const again = await w.writes(() => w.run("run", "everything"));
      expect(again.calls).toEqual({});
      // No call shows what E4 set: the sandbox's own store does, once it is let go.
      await w.sandbox.close();
      const held = rowsOf<{ id: string }>(
        store,
        "select channel_customer_id as id, name, branch_name, address from customers where kind <> 'default'",
      );
      expect(held.filter(({ id }) => id === "C1")).toEqual([{ id: "C1", name, branch_name: branch, address }]);
      expect(held.filter(({ id }) => id === "C2")).toEqual([
        { id: "C2", name: `${canary.name} 2`, branch_name: "Branch", address: canary.address },
      ]);
    },
  );

  it(
    "that takes a privilege from one person and gives it to another is two calls of M9, the revoke first",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      const [from, to] = w.staff;
      const before = await shown(w, "C1");
      if (from !== undefined && to !== undefined) {
        to.holds = [...(to.holds ?? []), ...(from.holds ?? [])];
        from.holds = [];
      }
      w.write();
      const { result, calls } = await w.writes(() => w.run("run", "staff"));
      expect(result.exitCode, result.stdout).toBe(0);
      expect(calls).toEqual({ M9: 2 });
      const after = await shown(w, "C1");
      expect(new Set(before.map((asset) => asset.holder)).size).toBe(2);
      expect(new Set(after.map((asset) => asset.holder)).size).toBe(1);
      const kinds = w.rows<{ kind: string }>(
        "select kind from operation where kind like '%-assets' order by created_at desc, id desc limit 2",
      );
      expect(kinds.map((row) => row.kind)).toEqual(["grant-assets", "revoke-assets"]);
    },
  );

  it("that takes a privilege away is one M9 and leaves everything else", async () => {
    const w = await synchronised();
    const [person] = w.staff;
    if (person !== undefined) person.holds = [];
    w.write();
    const { result, calls } = await w.writes(() => w.run("run", "staff"));
    expect(result.exitCode, result.stdout).toBe(0);
    expect(calls).toEqual({ M9: 1 });
    expect(w.sandbox.state().assignments).toBe(3);
  });
});

describe("what would be taken away of an order", () => {
  const amendments: [string, (w: World) => void, { calls: Record<string, number>; reason: RegExp }][] = [
    [
      "a changed order line",
      (w) => {
        const [order] = w.orders;
        if (order !== undefined)
          order.products = [
            { id: "O1-A1-P", parent: "O1-A1", nodes: 9 },
            { id: "O1-A2-P", parent: "O1-A2" },
          ];
      },
      {
        calls: { E5: 1 },
        reason: /the old form of 1 product\(s\) of the order crm\/O1 would be taken away/u,
      },
    ],
    [
      "a removed order line",
      (w) => {
        const [order] = w.orders;
        if (order !== undefined) order.products = [{ id: "O1-A1-P", parent: "O1-A1" }];
      },
      { calls: {}, reason: /the order crm\/O1 has 1 product\(s\) less/u },
    ],
    [
      "a cancelled order",
      (w) => {
        const [order] = w.orders;
        if (order !== undefined) order.cancelled = true;
      },
      { calls: {}, reason: /the order crm\/O1 was cancelled/u },
    ],
  ];

  it.each(amendments)(
    "as %s wants it, waits for a person and is shown in plan, summary, status and explain",
    { tags: "long" },
    async (_what, edit, expected) => {
      const w = await synchronised();
      edit(w);
      w.write();
      expect((await w.run("plan")).exitCode).toBe(2);
      const { result, calls } = await w.writes(() => w.run("run", "everything"));
      expect(calls).toEqual(expected.calls);
      expect(result.exitCode).toBe(4);
      expect(result.stdout).toMatch(expected.reason);
      expect((await w.run("status")).stdout).toMatch(expected.reason);
      const explained = await w.run("explain", "order", "O1");
      expect(explained.exitCode).toBe(0);
      expect(explained.stdout).toMatch(expected.reason);
      expect(explained.stdout).toMatch(/because\n +hold h-/u);
      expect((await w.writes(() => w.run("run", "everything"))).calls).toEqual({});
    },
  );

  it("is not forgotten by later runs, and goes away when the CRM takes the change back", { tags: "long" }, async () => {
    const w = await synchronised();
    const [order] = w.orders;
    if (order !== undefined) order.cancelled = true;
    w.write();
    for (const _ of [1, 2]) expect((await w.run("run", "everything")).exitCode).toBe(4);
    expect((await w.run("explain", "order", "O1")).stdout).toContain("was cancelled");
    if (order !== undefined) order.cancelled = false;
    w.write();
    const { result, calls } = await w.writes(() => w.run("run", "everything"));
    expect(calls).toEqual({});
    expect(result.exitCode, result.stdout).toBe(0);
    expect((await w.run("status")).stdout).not.toContain("was cancelled");
  });

  it("does not stop what else changed for the same customer", async () => {
    const w = await synchronised();
    const [order] = w.orders;
    if (order !== undefined) order.cancelled = true;
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] });
    w.write();
    const { calls } = await w.writes(() => w.run("run", "everything"));
    expect(calls).toEqual({ E5: 1 });
  });
});

describe("resync", () => {
  it(
    "gives back what somebody took away on the platform by hand, which no ordinary run looks at",
    { tags: "long" },
    async () => {
      const w = await synchronised();
      const [asset] = await shown(w, "C1");
      const taken = await callerOf(w.sandbox.url).member(
        "POST",
        `/enterprise/member/${asset?.holder ?? ""}/privileges`,
        {
          deleteAssets: [asset?.assetNum],
          addAssets: [],
        },
      );
      expect(taken.code).toBe(0);
      const ordinary = await w.writes(() => w.run("run", "everything"));
      expect(ordinary.calls).toEqual({});
      const { result, calls } = await w.writes(() => w.run("resync", "--customer", "C1"));
      expect(result.exitCode, result.stdout).toBe(0);
      expect(calls).toEqual({ M9: 1 });
      expect(await shown(w, "C1")).toContainEqual(asset);
      const again = await w.writes(() => w.run("resync", "--order", "O1"));
      expect(again.calls).toEqual({});
    },
  );

  it("changes only what it was asked for, and finds what changed there in the sources", async () => {
    const w = await synchronised();
    w.orders.push({ id: "O3", customer: "C1", assets: ["O3-A1"] }, { id: "O4", customer: "C2", assets: ["O4-A1"] });
    w.write();
    const one = await w.writes(() => w.run("resync", "--order", "O3"));
    expect(one.result.exitCode, one.result.stdout).toBe(0);
    expect(one.calls).toEqual({ E5: 1 });
    expect(w.sandbox.batches("O4")).toHaveLength(0);
    const rest = await w.writes(() => w.run("run", "everything"));
    expect(rest.calls).toEqual({ E5: 1 });
    expect(w.sandbox.batches("O4")).toHaveLength(1);
  });

  it("goes through everything that a source gave, also since a time", async () => {
    const w = await synchronised();
    const all = await w.run("--json", "resync", "--source", "crm");
    expect(all.exitCode).toBe(0);
    expect(document(all).summary.customers.worked).toBe(2);
    const none = await w.run("--json", "resync", "--source", "crm", "--since", "2099-01-01T00:00:00Z");
    expect(none.exitCode).toBe(0);
    expect(document(none).summary.customers.worked).toBe(0);
  });

  it("refuses what it cannot do, and says what to type", async () => {
    const w = await synchronised();
    const refusals: [string[], RegExp][] = [
      [[], /needs to know what/u],
      [["--customer", "C1", "--order", "O1"], /more than one of/u],
      [["--customer", "C1", "--since", "2026-10-01"], /--since goes with --source/u],
      [["--source", "hrr"], /no source hrr[^]*crm, hr/u],
      [["--source", "crm", "--since", "yesterday"], /yesterday is no time/u],
      [["--customer", "C9"], /no source has given a record crm\/C9/u],
      [["--order", "portal/O1"], /no source has given a record portal\/O1/u],
    ];
    const before = w.sandbox.counts().writingCalls;
    for (const [words, why] of refusals) {
      const ended = await w.run("resync", ...words);
      expect(ended.exitCode, words.join(" ")).toBe(64);
      expect(ended.stderr, words.join(" ")).toMatch(why);
      expect(ended.stderr).toMatch(/^ +→ \w/mu);
    }
    expect(w.sandbox.counts().writingCalls).toBe(before);
  });
});
