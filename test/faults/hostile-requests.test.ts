/** @module-tag sized */
import { describe, expect, it } from "vitest";
import { hostileTexts, intruder } from "../support/intruders.ts";
import { sizes } from "../support/sizes.ts";
import { operator } from "../support/served-pages.ts";
import type { Person } from "../../src/web/access/person.ts";
import { everythingWaits } from "../support/world/waiting.ts";
import type { World } from "../support/cli.ts";
import { canary } from "../support/world/crm.ts";
import { HostileVisitor } from "./hostile-visitor.ts";

/** Who asks: each role, and who may not see private values although they may see everything else. */
const visitors: Readonly<Record<string, { person: Person | "whoever"; mayAsk: boolean }>> = {
  "somebody of support who may not ask for private values": person("see", false),
  "somebody of support": person("see", true),
  "somebody of finance": person("report", false),
  "nobody who is signed in": { person: "whoever", mayAsk: false },
  "an operator": person("decide", true),
};

function person(role: Person["role"], mayAsk: boolean) {
  return { person: { ...operator, role, mayAskForPrivate: mayAsk }, mayAsk };
}

const seed = Number(process.env["SEED"] ?? 1);
const markup = hostileTexts[0];

/** A ledger in which everything that a record, a platform or a person may say is hostile. */
async function hostileWorld(): Promise<World> {
  const w = await everythingWaits({
    customer: (index) => `${canary.name} ${hostileTexts[index % hostileTexts.length]}`,
    person: () => `Zqcanary <${intruder}>`,
    suffix: markup,
    product: (index) => `${hostileTexts[index % hostileTexts.length]}\u202eturned\u0007 ${index}`,
    branch: (index) => `\u2066${hostileTexts[index % hostileTexts.length]} ${index}`,
    login: (index) => `${canary.login}${index}`,
    more: { address: `${canary.address} ${markup}` },
  });
  const [first] = w.customers;
  for (const [at, text] of hostileTexts.entries()) {
    const id = `SO-6${at}\u202e\u0000${text}`;
    w.orders.push({ id, customer: first?.id ?? "", assets: [`${id}-A1`] });
  }
  // Ten million characters in one field.
  w.orders.push({ id: "SO-70000", customer: `${markup}${"x".repeat(10_000_000)}`, assets: ["SO-70000-A1"] });
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "oddCode", code: markup });
  w.sandbox.faults.add({ operation: "M5", fault: "http502" });
  await w.run("run", "everything");
  w.sandbox.faults.clear();
  const [bad] = w.rows<{ id: string }>("select id from record where stream = 'orders' and id like 'SO-50102%'");
  if (bad !== undefined) await w.run("resolve", `order:${bad.id}`, "--done", "--reason", markup, "--by", markup);
  return w;
}

describe("hostile requests to the pages", () => {
  it(
    `break no page, become no markup and show nothing private to who may not see it (${sizes.requests}, seed ${seed})`,
    { tags: "long", timeout: 3_600_000 },
    async () => {
      const w = await hostileWorld();
      const share = Math.ceil(sizes.requests / Object.keys(visitors).length);
      const wrong: string[] = [];
      for (const [who, { person: asking, mayAsk }] of Object.entries(visitors)) {
        const visitor = await HostileVisitor.come(w, { person: asking, mayAsk, seed });
        wrong.push(...(await visitor.ask(share)).map((what) => `${who}: ${what}`));
        await visitor.leave();
        expect(visitor.pagesSeen, who).toBeGreaterThan(0);
      }
      expect(wrong).toEqual([]);
    },
  );
});
