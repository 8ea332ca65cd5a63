import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join, relative } from "node:path";
import { type ExitCode, exitCodes } from "../src/base/errors.ts";
import { createOutput, reportFailure } from "../src/cli/output.ts";
import { demonstrate, demonstrateSecondAct } from "./demonstrate.ts";
import { demonstrateThirdAct } from "./third-act.ts";

const directory = import.meta.dirname;
const state = join(directory, "state");
const here = relative(process.cwd(), directory) || ".";

const output = createOutput(process.stdout, process.stderr, () => performance.now());
const crmSync = `bin/crm-sync --config ${here}/crm-sync.yaml --sandbox`;
output.suggests((text) => text.replaceAll("`crm-sync ", `\`${crmSync} `));
const words = process.argv.slice(2);
const json = words.includes("--json");
const at = words.indexOf("--act");
const act = at < 0 ? "1" : (words[at + 1] ?? "");
const isAct = ["1", "2", "3"].includes(act);
const unknown = words.filter(
  (word, index) => !["--json", "--reset"].includes(word) && (at < 0 || !isAct || (index !== at && index !== at + 1)),
);

async function main(): Promise<ExitCode> {
  if (unknown.length > 0) {
    output.note(
      `the demo does not know ${unknown.join(" ")}\n  → npm run ` +
        "demo, npm run demo -- --act 2, npm run demo -- --act 3, npm run demo -- --json, or npm run demo -- --reset",
    );
    return exitCodes.usage;
  }
  if (words.includes("--reset")) {
    for (const name of ["ledger.db", "sandbox.db"]) {
      for (const suffix of ["", "-wal", "-shm", ".lock", ".lock-journal", ".heads"])
        rmSync(join(state, `${name}${suffix}`), { force: true });
    }
    for (const name of ["exports", "finance"]) rmSync(join(state, name), { force: true, recursive: true });
    output.line(`${here}/state: the ledger and the sandbox are gone; the sample and the reports are as they were`);
    output.line("next: npm run demo");
    return exitCodes.ok;
  }
  mkdirSync(state, { recursive: true });
  const key = join(state, "seal.key");
  if (!existsSync(key)) writeFileSync(key, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(new Error("stopped")));
  const config = join(directory, "crm-sync.yaml");
  const sample = join(directory, "sample");
  if (act === "3")
    return await demonstrateThirdAct(
      { config, sample, work: join(state, "finance") },
      process.env,
      output,
      stop.signal,
    );
  const places = { config, sample, exports: join(state, "exports"), reports: join(state, "reports"), here };
  if (act === "1") return await demonstrate(places, json, process.env, output, stop.signal);
  if (!existsSync(join(state, "ledger.db"))) {
    output.note("the second act goes on from the first, which was not run yet\n  → npm run demo");
    return exitCodes.usage;
  }
  return await demonstrateSecondAct(places, json, process.env, output, stop.signal);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = reportFailure(output, error, json);
}
