import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join, relative } from "node:path";
import type { ExitCode } from "../src/base/errors.ts";
import { exitCodes } from "../src/base/errors.ts";
import { createOutput, reportFailure } from "../src/cli/output.ts";
import { demonstrate, demonstrateSecondAct } from "./demonstrate.ts";

const directory = import.meta.dirname;
const state = join(directory, "state");
const here = relative(process.cwd(), directory) || ".";

const output = createOutput(process.stdout, process.stderr, () => performance.now());
const words = process.argv.slice(2);
const json = words.includes("--json");
const act = words.indexOf("--act");
const isSecond = act >= 0 && words[act + 1] === "2";
const known = isSecond ? ["--json", "--reset", "--act", "2"] : ["--json", "--reset"];
const unknown = words.filter((word) => !known.includes(word));

async function main(): Promise<ExitCode> {
  if (unknown.length > 0) {
    output.note(
      `the demo does not know ${unknown.join(" ")}\n  → npm run ` +
        "demo, npm run demo -- --act 2, npm run demo -- --json, or npm run demo -- --reset",
    );
    return exitCodes.usage;
  }
  if (words.includes("--reset")) {
    for (const name of ["ledger.db", "sandbox.db"]) {
      for (const suffix of ["", "-wal", "-shm", ".lock", ".lock-journal", ".heads"])
        rmSync(join(state, `${name}${suffix}`), { force: true });
    }
    output.line(`${here}/state: the ledger and the sandbox are gone; the sample and the reports are as they were`);
    output.line("next: npm run demo");
    return exitCodes.ok;
  }
  mkdirSync(state, { recursive: true });
  const key = join(state, "seal.key");
  if (!existsSync(key)) writeFileSync(key, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(new Error("stopped")));
  const places = { config: join(directory, "crm-sync.yaml"), reports: join(state, "reports"), here };
  if (!isSecond) return await demonstrate(places, json, process.env, output, stop.signal);
  if (!existsSync(join(state, "ledger.db"))) {
    output.note("the second act goes on from the first, which was not run yet\n  → npm run demo");
    return exitCodes.usage;
  }
  const folders = { sample: join(directory, "sample"), changed: join(state, "changed") };
  return await demonstrateSecondAct({ ...places, ...folders }, json, process.env, output, stop.signal);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = reportFailure(output, error, json);
}
