import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { jsonWithSuggestions, suggestedWith } from "../../src/cli/output.ts";
import { crmSync } from "../support/program.ts";
import { reverseProxy } from "../support/reverse-proxy.ts";
import { serves } from "../support/serving.ts";
import { severalTroubles } from "../support/several-troubles.ts";
import { telling, told } from "../support/telling.ts";
import { document, world, type World } from "../support/cli.ts";

const commands = ["status", "settle", "run"];

it.each([
  [{}, "crm-sync"],
  [{ sandbox: true }, "crm-sync --sandbox"],
  [{ sandbox: "http://127.0.0.1:1" }, "crm-sync --sandbox=http://127.0.0.1:1"],
  [{ config: "a b.yaml", sandbox: true }, "crm-sync --config 'a b.yaml' --sandbox"],
] as const)("completes commands with %j, and nothing else", (options, start) => {
  const complete = suggestedWith(options, commands);
  const text = "crm-sync settles it; `crm-sync settle list`, crm-sync --help, crm-sync.yaml, and crm-sync status";
  const completed = text.replace("`crm-sync", `\`${start}`).replace("crm-sync status", `${start} status`);
  expect(complete(text)).toBe(completed);
  expect(complete(complete(text))).toBe(completed);
});

it("completes what a document suggests, and leaves its other texts as they are", () => {
  const complete = suggestedWith({ sandbox: true }, commands);
  const [was, is] = ["crm-sync run x", "crm-sync --sandbox run x"];
  const value = { note: was, cure: was, holds: [{ next: was }, { next: [was] }], next: null };
  expect(JSON.parse(jsonWithSuggestions(value, complete))).toEqual({
    note: was,
    cure: is,
    holds: [{ next: is }, { next: [is] }],
    next: null,
  });
});

/** What a command line prints, as a person sees it, or with --json a machine. */
async function printed(w: World, ...words: string[]): Promise<string> {
  let all = "";
  const isDocument = words.includes("--json");
  const write = (text: string | Buffer, done?: () => void): boolean => {
    all += String(text);
    done?.();
    return true;
  };
  await crmSync({ ...w.place, stdout: { write }, ...(isDocument ? {} : { hear: write }) }, ...words);
  return all;
}

/** Commands that a text suggests without the options of the command line that it answers. */
function bareIn(text: string): string[] {
  const names = [
    "alerts",
    "apply",
    "approve",
    "assumptions",
    "audit",
    "backup",
    "check",
    "explain",
    "link",
    "map",
    "plan",
  ];
  const more = ["quarantine", "reassign", "rebuild", "reject", "report", "resolve", "resume", "resync", "run", "runs"];
  const all = [...names, ...more, "serve", "settle", "status", "undo", "unlink"];
  return [...text.matchAll(new RegExp(String.raw`\bcrm-sync (?:${all.join("|")})\b.{0,60}`, "gu"))].map(
    ([found]) => found,
  );
}

it("can be copied from everything that a world in trouble says", async () => {
  const w = await severalTroubles();
  const options = `--config ${w.path("crm-sync.yaml")} --sandbox=${w.sandbox.url}`;
  const file = w.path("plan.ndjson");
  const lines = [
    ["run", "everything"],
    ["plan", "--out", file],
    ["apply", file],
    ["run", "verify"],
    ["run", "show", "last"],
    ["undo", "last"],
    ["status"],
    ["status", "--all"],
    ["alerts"],
    ["check"],
    ["explain", "customer", "C1"],
    ["explain", "order", "O5"],
    ["explain", "staff", "S1-1"],
    ["quarantine", "list"],
    ["settle", "list"],
    ["settle", "op_nothing", "--applied", "--reason", "looked"],
    ["approve", "h-nothing", "--reason", "looked"],
    ["report", "nothing"],
    ["report", "exceptions", "--period", "2026-11"],
    ["resync", "--customer", "nobody"],
  ];
  const [row] = document(await w.run("--json", "quarantine", "list"));
  if (row !== undefined) lines.push(["quarantine", "show", row.id]);
  const said = new Map<string, string>();
  for (const words of lines) said.set(words.join(" "), await printed(w, ...words));
  for (const [words, text] of said) expect.soft(bareIn(text), words).toEqual([]);
  for (const words of ["run everything", "status", "explain customer C1", "settle list"])
    expect.soft(said.get(words), words).toContain(`crm-sync ${options} `);
});

it("can be copied from what a command, a cure and a document say", async () => {
  const w = await world();
  const options = `--config ${w.path("crm-sync.yaml")} --sandbox=${w.sandbox.url}`;
  for (const words of [["status"], ["explain", "order", "nowhere"], ["run", "show", "nothing"]]) {
    const text = await printed(w, ...words);
    expect(text).toContain(`crm-sync ${options} `);
    expect(bareIn(text)).toEqual([]);
  }
  const { error } = document({ ...(await w.run("status")), stdout: await printed(w, "--json", "run", "show", "no") });
  expect(error.cure).toContain(`crm-sync ${options} runs`);
});

it("can be copied from a page and from an alert, as the program was started", async () => {
  const w = await telling();
  w.customers.push({ id: "C9 <b>", name: "" });
  w.orders.push({ id: "O9", customer: "C99", assets: ["O9-A1"] });
  w.write();
  await w.run("run", "everything");
  const options = `--config ${w.path("crm-sync.yaml")} --sandbox=${w.sandbox.url}`;
  const cures = told(w).map(({ cure }) => cure);
  expect(cures.join("\n")).toContain(`crm-sync ${options} status`);
  const proxy = reverseProxy("proxy.pem", () => w.clock.now());
  writeFileSync(w.path(proxy.settings.keys), proxy.publicPem);
  w.environment["CRM_SYNC__serve__access__proxy"] = JSON.stringify({ ...proxy.settings, role: "decide" });
  const serving = await serves(w);
  for (const path of ["/today", "/order/crm/O9"]) {
    const { status, text } = await serving.get(path, proxy.as({ email: "anna" }));
    expect([path, status]).toEqual([path, 200]);
    expect(text).toContain(`crm-sync ${options} `);
    expect(text).not.toMatch(/crm-sync (?:run|status|explain|check|map|quarantine) /u);
  }
});
