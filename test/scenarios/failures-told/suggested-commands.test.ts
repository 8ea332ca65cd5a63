import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { fetch } from "undici";
import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { crmSync } from "../../support/program.ts";
import { operator, servePages } from "../../support/served-pages.ts";
import { severalTroubles } from "../../support/several-troubles.ts";
import { orderOf, rule } from "../../support/world/placed-orders.ts";

/** What stands behind a command in a sentence: it is no word of the command. */
const end = new RegExp(
  String.raw`[\n\x60;,()<>|"]|→|\.(?:\s|$)| {2}| (?:or|and|says|shows|lists|names|tries|has|which|where|if|else|then|for|to|` +
    String.raw`once|takes|ends|reads|releases|carries|gives|by itself|is|with --|again|looks|in its|erases|sets|does)\b`,
  "u",
);

/** Words that whoever types the command puts something in the place of. */
const blanks: Record<string, string> = { TEXT: "looked at", NAME: "anna" };

/** The commands that a text suggests. */
function suggestedIn(text: string): string[] {
  return [...text.matchAll(/\bcrm-sync (?=(?:--[a-z]|[a-z]))/gu)].map(({ index, 0: start }) => {
    const rest = text.slice(index + start.length);
    const after = end.exec(rest)?.index ?? rest.length;
    return rest.slice(0, after).trim();
  });
}

function plainText(html: string): string {
  return html
    .replaceAll(/<script[^]*?<\/script>|<style[^]*?<\/style>/gu, " ")
    .replaceAll(/<\/?(?:code|bdi|strong|em|span)\b[^>]*>/gu, "")
    .replaceAll(/<[^>]+>/gu, "\n")
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

/** What the world says everywhere, by where it says it. */
async function sayings(w: World): Promise<Map<string, string>> {
  const said = new Map<string, string>();
  const records = [
    ...["C1", "C3", "C4"].map((id) => ["customer", id]),
    ...["O5", "O7", "O8", "O9", "nowhere"].map((id) => ["order", id]),
    ...["S1-1", "S5-1", "S9"].map((id) => ["staff", id]),
  ];
  const month = ["--period", new Date(w.clock.now()).toISOString().slice(0, 7)];
  const lines = [
    ...["everything", "verify"].map((job) => ["run", job]),
    ...records.map(([kind = "", id = ""]) => ["explain", kind, id]),
    ...["exceptions", "reconciliation", "run"].map((kind) => ["report", kind, ...month, "--format", "json"]),
    ["report", "blockers", month[1] ?? ""],
    ...["status", "plan", "alerts", "runs", "check", "assumptions"].map((word) => [word]),
    ["quarantine", "list"],
    ["settle", "list"],
  ];
  for (const words of lines) {
    const { stdout, stderr } = await w.run(...words);
    said.set(words.join(" "), `${stdout}\n${stderr}`);
  }
  const [first] = JSON.parse((await w.run("--json", "quarantine", "list")).stdout);
  if (first !== undefined) said.set("quarantine show", (await w.run("quarantine", "show", first.id)).stdout);
  const pages = await servePages(w.place, operator);
  const paths = ["today", "runs", "plan", "quarantine", "settle", "alerts", "reports", "assumptions", "audit"];
  for (const path of [...paths, ...records.map(([kind, id]) => `${kind === "staff" ? "person" : kind}/crm/${id}`)])
    said.set(`/${path}`, plainText(await (await fetch(`${pages.url}/${path}`)).text()));
  await pages.close();
  return said;
}

/** Everything that waits, and much of what can be wrong. */
async function troubled(): Promise<World> {
  const w = await severalTroubles();
  rule(w, "orders.moved", "ask");
  w.orders = w.orders.map((order) => (order.id === "O5" ? { ...order, customer: "C2" } : order));
  w.orders.push(orderOf("O7", "C99"), { ...orderOf("O6", "C4"), placedAt: "2026-10-05T08:00:00Z" });
  w.staff.push({ id: "S9", customer: "C4", holds: ["nothing"] });
  w.write();
  return w;
}

it("prints no command that cannot be run as it is printed", { tags: "long", timeout: 600_000 }, async () => {
  const w = await troubled();
  const found = new Map<string, string>();
  for (const [where, text] of await sayings(w))
    for (const command of suggestedIn(text)) if (!found.has(command)) found.set(command, where);
  expect(found.size).toBeGreaterThan(15);
  let count = 0;
  for (const [command, where] of found) {
    const folder = `copy-${(count += 1)}`;
    mkdirSync(w.path(folder));
    for (const name of readdirSync(w.folder))
      if (name.startsWith("ledger")) cpSync(w.path(name), w.path(`${folder}/${name}`), { recursive: true });
    const environment = { ...w.environment, CRM_SYNC__ledger__path: w.path(`${folder}/ledger.db`) };
    const words = [...command.matchAll(/'([^']*)'|\S+/gu)].map(([word, quoted]) => quoted ?? blanks[word] ?? word);
    const last = ["serve", "watch", "sandbox"].includes(words[0] ?? "") ? ["--help"] : [];
    const ended = await crmSync({ ...w.place, environment }, ...words, ...last);
    expect.soft([64, 78], `${where}: crm-sync ${command}\n${ended.stderr}`).not.toContain(ended.exitCode);
  }
});
