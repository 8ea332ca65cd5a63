import { parseJson } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes } from "../../base/errors.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";

export const register: Register = (program, carryOut) => {
  const audit = program.command("audit").description("the hash-chained record of what was done");
  audit
    .command("verify")
    .description("find any change to it")
    .addHelpText("after", example("crm-sync audit verify"))
    .action(() => carryOut(auditVerifyCommand));
  audit
    .command("export")
    .description("every entry as a line of JSON")
    .option("--out <file>", "where to (default: stdout)")
    .addHelpText("after", example("crm-sync audit export --out audit.ndjson"))
    .action((options) => carryOut((invocation) => auditExportCommand(invocation, options.out)));
  audit
    .command("head")
    .description("number and hash of the last entry, to be kept elsewhere")
    .addHelpText("after", example("crm-sync audit head"))
    .action(() => carryOut(auditHeadCommand));
};

/** `audit verify`: walks the whole chain and compares it with the heads kept outside the database. */
async function auditVerifyCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const { verifyAudit } = await import("../../app/audit-verdict.ts");
    const { verdict, heads } = await verifyAudit(application);
    if (verdict.good) {
      if (options.json)
        output.json({
          good: true,
          entries: verdict.entries,
          head: verdict.head === undefined ? null : { ...verdict.head },
          keptHeads: verdict.keptHeads,
        });
      else {
        output.line(
          `the audit record is good: ${verdict.entries} entries, each follows ` +
            `the one before it, and ${verdict.keptHeads} kept head(s) fit`,
        );
        if (verdict.head !== undefined) output.line(`head: entry ${verdict.head.sequence}, ${verdict.head.hash}`);
        output.line(`entries cut off after the last kept head cannot be seen here; keep copies of ${heads} elsewhere`);
      }
      return ok;
    }
    if (options.json)
      output.json({ good: false, entries: verdict.entries, firstBad: verdict.firstBad, why: verdict.why });
    else
      output.line(
        `THE AUDIT RECORD IS BAD at entry ${verdict.firstBad}: ${verdict.why}\n` +
          "  → keep the file as it is, and compare it with a backup",
      );
    return exitCodes.ledgerRefused;
  });
}

/** `audit head`: the last entry's number and hash, to be kept elsewhere. */
async function auditHeadCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const head = await (await application.inquiry()).auditHead();
    if (options.json) output.json(head === undefined ? null : { ...head });
    else output.line(head === undefined ? "the audit record is empty" : `${head.sequence} ${head.hash}`);
    return ok;
  });
}

/** `audit export`: every entry as a line of JSON, to a file or to stdout. */
export async function auditExportCommand(invocation: Invocation, out: string | undefined): Promise<ExitCode> {
  const { output } = invocation;
  return await withReader(invocation, async (application) => {
    const inquiry = await application.inquiry();
    let entries = 0;
    const lines = function* (): Generator<string, void, void> {
      for (const row of inquiry.auditRows()) {
        entries += 1;
        yield `${JSON.stringify({ ...row, body: parseJson(row.body) })}\n`;
      }
    };
    if (out === undefined) {
      const { toStdout } = await import("../stdout.ts");
      await toStdout(output, lines());
      return ok;
    }
    const { writeWhole } = await import("../../app/written-files.ts");
    await writeWhole(out, lines(), { what: "audit record", group: application.group });
    output.note(`${entries} entries written to ${out}`);
    return ok;
  });
}
