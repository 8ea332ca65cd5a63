import { chmodSync, copyFileSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseJson } from "../base/canonical-json.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { verifyChain } from "../ledger/audit.ts";
import { headsPath, readKeptHeads } from "../ledger/audit-heads.ts";
import { ok, withLedger, withReader } from "./command.ts";
import type { Invocation } from "./command.ts";
import { platformName } from "./platform-name.ts";
import { deciderOf } from "./decider.ts";
import { reportFailure } from "./output.ts";
import { toStdout, writeWhole } from "./written-files.ts";

/** `audit verify`: walks the whole chain and compares it with the heads kept outside the database. */
export async function auditVerifyCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const kept = readKeptHeads(headsPath(workplace.ledgerPath));
    const verdict = verifyChain((await workplace.queries()).auditRows(), kept);
    const { output, json } = workplace;
    if (verdict.good) {
      if (json)
        output.json({
          good: true,
          entries: verdict.entries,
          head: verdict.head === undefined ? null : { ...verdict.head },
          keptHeads: verdict.keptHeads,
        });
      else {
        output.line(
          `the audit record is good: ${verdict.entries} entries, each follows the one before it, and ${verdict.keptHeads} kept head(s) fit`,
        );
        if (verdict.head !== undefined) output.line(`head: entry ${verdict.head.sequence}, ${verdict.head.hash}`);
        output.line(
          `entries cut off after the last kept head cannot be seen here; keep copies of ${headsPath(workplace.ledgerPath)} elsewhere`,
        );
      }
      return ok;
    }
    if (json) output.json({ good: false, entries: verdict.entries, firstBad: verdict.firstBad, why: verdict.why });
    else
      output.line(
        `THE AUDIT RECORD IS BAD at entry ${verdict.firstBad}: ${verdict.why}\n  → keep the file as it is, and compare it with a backup`,
      );
    return exitCodes.ledgerRefused;
  });
}

/** `audit head`: the last entry's number and hash, to be kept elsewhere. */
export async function auditHeadCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const head = await (await workplace.queries()).auditHead();
    if (workplace.json) workplace.output.json(head === undefined ? null : { ...head });
    else workplace.output.line(head === undefined ? "the audit record is empty" : `${head.sequence} ${head.hash}`);
    return ok;
  });
}

/** `audit export`: every entry as a line of JSON, to a file or to stdout. */
export async function auditExportCommand(invocation: Invocation, out: string | undefined): Promise<ExitCode> {
  return await withReader(invocation, async (workplace) => {
    const queries = await workplace.queries();
    let entries = 0;
    const lines = function* (): Generator<string, void, void> {
      for (const row of queries.auditRows()) {
        entries += 1;
        yield `${JSON.stringify({ ...row, body: parseJson(row.body) })}\n`;
      }
    };
    if (out === undefined) {
      await toStdout(lines());
      return ok;
    }
    await writeWhole(out, lines(), { what: "audit record", group: workplace.group });
    workplace.output.note(`${entries} entries written to ${out}`);
    return ok;
  });
}

/** `migrate`: brings the ledger to this version. A migration that fails leaves it as it was. */
export async function migrateCommand(
  invocation: Invocation,
  acceptPlatform: boolean,
  by: string | undefined,
): Promise<ExitCode> {
  return await withLedger(invocation, async (workplace) => {
    const who = deciderOf(by);
    const existed = existsSync(workplace.ledgerPath);
    const ledger = await workplace.ledger();
    const applied = ledger.migrations();
    if (acceptPlatform) await ledger.requirePlatform(await platformName(workplace), { by: who });
    if (workplace.json) workplace.output.json({ ledger: workplace.ledgerPath, migrations: applied });
    else
      workplace.output.line(`${workplace.ledgerPath} is ${existed ? "at this version" : "new"}: ${applied.join(", ")}`);
    return ok;
  });
}

/** `init`: a configuration to start from, with every key explained. Never writes over a file. */
export async function initCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  const path = resolve(options.config ?? "crm-sync.yaml");
  try {
    if (existsSync(path)) {
      throw new Problem({
        code: "init.exists",
        message: `${path} is there already and was not touched`,
        cure: "name another file with --config FILE",
        exitCode: exitCodes.usage,
      });
    }
    try {
      copyFileSync(join(import.meta.dirname, "../../config/production.example.yaml"), path);
      // It holds no secret, and whoever may read the ledger asks with it.
      chmodSync(path, 0o644);
    } catch (error) {
      throw new Problem({
        code: "init.cannot-write",
        message: `${path} cannot be written: ${messageOf(error)}`,
        cure: "check that the folder exists and that this user may write there",
        exitCode: exitCodes.usage,
        cause: error,
      });
    }
    output.line(`${path} was made; every key is explained in it.`);
    output.line(
      "Next: fill in the services, the sources and the assumptions, set the environment variables it names, then `crm-sync check`.",
    );
    return ok;
  } catch (error) {
    return reportFailure(output, error, options.json);
  }
}
