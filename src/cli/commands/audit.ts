import { olderCopyCure } from "../../report/next-steps.ts";
import type { AuditAnswer } from "../../books/audit-record.ts";
import { type ExitCode, exitCodes, usage } from "../../base/errors.ts";
import { counted, withInstantsToWrite, withLocalInstants } from "../../report/text.ts";
import { deciderOf, notFound, parseKey } from "../words.ts";
import { ok, readingOf, withLedger, withReader, type Invocation } from "../command.ts";
import { byWhom, example, withReason, type Register } from "../command-line.ts";
import { safeLines } from "../output.ts";

export const addAudit: Register = (program, carryOut) => {
  const audit = program.command("audit").description("the append-only log of all that crm-sync did");
  audit
    .command("verify")
    .description("find any change to it, and any cut as far as heads outside the database say")
    .option("--heads <file...>", "copies of the file of heads, or checkpoints, that were kept elsewhere")
    .option(
      "--key <verifier...>",
      "the verifier keys that signed those that are checkpoints, as `audit head` prints them",
    )
    .option("--within <time>", "how old the last entry may be", "26h")
    .addHelpText("after", example("crm-sync audit verify --heads /mnt/elsewhere/ledger.db.heads"))
    .action((options) => carryOut((invocation) => auditVerifyCommand(invocation, options)));
  audit
    .command("export")
    .description("every entry as a line of JSON, with the state of the Merkle tree between them")
    .option("--out <file>", "where to (default: stdout)")
    .addHelpText("after", example("crm-sync audit export --out audit.ndjson"))
    .action((options) => carryOut((invocation) => auditExportCommand(invocation, options.out)));
  audit
    .command("prove")
    .description("the entries about an order, each with a proof that it is in the record, and no other entry")
    .requiredOption("--order <id>", "the order, as ID or NAMESPACE/ID")
    .option("--grown-since <entry>", "prove too that the record has only grown since it ended with this entry")
    .option("--out <file>", "where to (default: stdout)")
    .addHelpText("after", example("crm-sync audit prove --order 10248 --out proof.json"))
    .action((options) => carryOut((invocation) => auditProveCommand(invocation, options)));
  audit
    .command("head")
    .description(
      "the last entry, and size and root of the Merkle tree, to be kept elsewhere; signed with audit.signKey",
    )
    .addHelpText("after", example("crm-sync audit head"))
    .action(() => carryOut(auditHeadCommand));
  audit
    .command("erase")
    .description("erase the personal data of a customer and its people, or of one person; every proof stays valid")
    .option("--customer <id>", "the customer, as ID or NAMESPACE/ID")
    .option("--person <id>", "the member of staff, as ID or NAMESPACE/ID")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example('crm-sync audit erase --customer ALFKI --reason "request 17 of the privacy desk" --by anna.lee')}
It is refused as long as the CRM gives the record, and while anything waits or is under way for it. It cannot be undone.
The file of the ledger is written anew, which takes as long, and as much room, as a copy of it.`,
    )
    .action((options) =>
      carryOut(async (invocation) => await (await import("../personal-data.ts")).eraseCommand(invocation, options)),
    );
  audit
    .command("answer")
    .description("the answer of a service to an operation, in its own words; the audit log notes who asked")
    .argument("<operation>", "an operation whose answer was kept, as `crm-sync explain` names it")
    .option(...byWhom)
    .addHelpText("after", example("crm-sync audit answer op_0123456789 --by anna.lee"))
    .action((id, options) => carryOut((invocation) => auditAnswerCommand(invocation, id, options.by)));
  audit
    .command("subject")
    .description("all data about a person, for them; the audit log notes who asked")
    .option("--person <id>", "the member of staff, as ID or NAMESPACE/ID")
    .option("--customer <id>", "a customer and its administrator, without its staff")
    .option("--out <file>", "where to, for its owner alone (default: stdout)")
    .option(...byWhom)
    .addHelpText("after", example("crm-sync audit subject --person 4711 --out subject.txt --by anna.lee"))
    .action((options) =>
      carryOut(async (invocation) => await (await import("../personal-data.ts")).subjectCommand(invocation, options)),
    );
};

async function auditAnswerCommand(invocation: Invocation, id: string, by?: string): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const { askForAnswer } = await import("../../requests/private-shown.ts");
    const inquiry = await application.inquiry();
    const row = await inquiry.operation(id);
    if (row === undefined) throw notFound("operation", id, "`crm-sync explain` names those of a record");
    const text = await askForAnswer(readingOf(application, inquiry), row, deciderOf(by));
    return {
      json: { operation: id, answer: text ?? null },
      text: safeLines(text ?? "no answer was kept, or it was erased"),
    };
  });
}

async function auditVerifyCommand(
  invocation: Invocation,
  { heads = [], within, key = [] }: { heads?: string[]; within: string; key?: string[] },
): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const { verifyAudit } = await import("../../books/audit-record.ts");
    const answer = await verifyAudit(application, { copies: heads, within, verifiers: key });
    // Without a kept head, nobody would notice if the log was cut off.
    const isUnproven = answer.completeness.good === null && answer.entries > 0;
    const isDoubtful = isUnproven || answer.freshness.good === false;
    return {
      json: { ...answer, head: answer.head ?? null },
      text: (view) =>
        verdictLines(answer)
          .map((line) => withLocalInstants(line, view))
          .join("\n"),
      exit: !answer.good ? exitCodes.ledgerRefused : isDoubtful ? exitCodes.recordsRejected : ok,
    };
  });
}

function verdictLines({
  entries,
  head,
  keptHeads,
  integrity,
  completeness,
  freshness,
  ...answer
}: AuditAnswer): string[] {
  const bad = (finding: { code: string; firstBad: number; why: string }): string =>
    `BAD${finding.firstBad > 0 ? ` at entry ${finding.firstBad}` : ""} (${finding.code}): ${finding.why}`;
  const heads = counted(keptHeads, "kept head");
  const lines = [
    `integrity     ${
      integrity.good
        ? `good: ${entries} entries, each follows the one before it, and the tree is theirs`
        : bad(integrity)
    }`,
    `completeness  ${
      completeness.good === null
        ? `unknown: ${completeness.why}`
        : completeness.good
          ? `good: nothing that ${heads} outside the database name is missing`
          : bad(completeness)
    }`,
    `freshness     ${freshness.good === null ? "unknown" : freshness.good ? "good" : "STALE"}: ${freshness.why}`,
  ];
  if (answer.isUnchecked) lines.push("signatures    not checked: name the key that signed the heads with --key");
  const isOlder = integrity.good && completeness.good === false && completeness.code === "cut-off";
  if (isOlder) return [...lines, "This is an older copy, or somebody cut entries off.", `  → ${olderCopyCure}`];
  if (!answer.good) return [...lines, "  → keep the file as it is, and compare it with a backup"];
  const known = head === undefined ? [] : [`head          entry ${head.sequence}, ${head.hash}`];
  return [
    ...lines,
    ...known,
    `entries cut off after the last kept head cannot be seen here; keep copies of ${answer.heads} elsewhere`,
  ];
}

async function auditHeadCommand(invocation: Invocation): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const { signedHead } = await import("../../books/audit-record.ts");
    const found = await signedHead(application);
    if (found === undefined) {
      if (options.json) output.json(null);
      else output.line("the audit log is empty");
      return ok;
    }
    const { head, signed, unsigned } = found;
    if (options.json) {
      output.json({ ...head, ...signed });
      return ok;
    }
    // One word, to the millisecond: scripts split these lines at spaces.
    const at = withInstantsToWrite(head.at, application.config);
    for (const line of [`${head.sequence} ${head.hash}`, `tree ${head.size} ${head.root}`, `at ${at}`])
      output.line(line);
    if (unsigned !== undefined) output.note(`not signed: ${unsigned}`);
    if (signed === undefined) return ok;
    output.line(`verifier ${signed.verifier}`);
    output.line("");
    output.line(signed.checkpoint.trimEnd());
    return ok;
  });
}

async function auditExportCommand(invocation: Invocation, out: string | undefined): Promise<ExitCode> {
  const { output } = invocation;
  return await withReader(invocation, async (application) => {
    const { exportLines } = await import("../../books/audit-record.ts");
    const { toFileOrStdout } = await import("../stdout.ts");
    const lines = await exportLines(application);
    await toFileOrStdout(output, out, lines, { what: "audit log", group: application.group });
    if (out !== undefined) output.note(`the audit log is written to ${out}`);
    return ok;
  });
}

async function auditProveCommand(
  invocation: Invocation,
  { order, grownSince: since, out }: { order: string; grownSince?: string; out?: string },
): Promise<ExitCode> {
  const { output } = invocation;
  return await withReader(invocation, async (application) => {
    const { orderProof } = await import("../../books/audit-record.ts");
    if (since !== undefined && !/^[1-9]\d{0,14}$/u.test(since))
      throw usage(`${JSON.stringify(since)} is no entry`, "write its number, as a head has it");
    const key = parseKey(order, application.config.namespace);
    const proof = await orderProof(application, key, since === undefined ? undefined : Number(since));
    const text = `${JSON.stringify(proof, undefined, 2)}\n`;
    const { toFileOrStdout } = await import("../stdout.ts");
    await toFileOrStdout(output, out, [text], { what: "proof", group: application.group });
    if (out !== undefined) output.note(`${out} written`);
    return ok;
  });
}
