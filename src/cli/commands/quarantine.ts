import { counted } from "../../report/text.ts";
import { askForRawForm } from "../../requests/private-shown.ts";
import { type ExitCode, exitCodes } from "../../base/errors.ts";
import type { Retried } from "../../ingest/retry.ts";
import { ok, readingOf, withLedger, withReader, type Invocation } from "../command.ts";
import { byWhom, example, type Register } from "../command-line.ts";
import { deciderOf, notFound } from "../words.ts";
import { safeLines } from "../output.ts";

export const addQuarantine: Register = (program, carryOut) => {
  const quarantine = program.command("quarantine").description("records that cannot be used");
  quarantine
    .command("list")
    .description("all of them, with place and reason")
    .addHelpText("after", example("crm-sync quarantine list"))
    .action(() => carryOut(quarantineListCommand));
  quarantine
    .command("show")
    .description("one of them")
    .argument("<id>")
    .option("--raw", "show the raw record too; it may hold personal data, and who asked is in the audit log", false)
    .option(...byWhom)
    .addHelpText("after", example("crm-sync quarantine show q-1a2b3c4d5e --raw"))
    .action((id, options) => carryOut((invocation) => quarantineShowCommand(invocation, id, options)));
  quarantine
    .command("retry")
    .description("map the stored raw form of a record anew, with the mapping of now, without asking its source")
    .argument("<id>", "a quarantine id, or `all`: without rows that may be another record")
    .option(...byWhom)
    .addHelpText("after", example("crm-sync quarantine retry all"))
    .action((id, options) => carryOut((invocation) => quarantineRetryCommand(invocation, id, options.by)));
};

async function quarantineListCommand(invocation: Invocation): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const rows = [...(await application.inquiry()).quarantine()];
    const { quarantineListText } = await import("../../report/waiting.ts");
    return { json: rows, text: (view) => quarantineListText(rows, view) };
  });
}

async function quarantineShowCommand(
  invocation: Invocation,
  id: string,
  { raw, by }: { raw: boolean; by?: string },
): Promise<ExitCode> {
  return await (raw ? withLedger : withReader)(invocation, async (application) => {
    const inquiry = await application.inquiry();
    const row = await inquiry.quarantineById(id);
    if (row === undefined) throw notFound("quarantined record", id, "`crm-sync quarantine list` lists them");
    const ask = async () => await askForRawForm(readingOf(application, inquiry), row, deciderOf(by));
    const form = raw ? ((await ask()) ?? "erased, or kept no longer") : undefined;
    const { quarantineText } = await import("../../report/waiting.ts");
    return { json: { ...row, raw: form }, text: (view) => quarantineText(row, form, view) };
  });
}

async function quarantineRetryCommand(invocation: Invocation, id: string, by?: string): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const { retryQuarantine } = await import("../../requests/quarantine.ts");
    const results = await retryQuarantine(application, id, deciderOf(by));
    if (id !== "all" && results.length === 0)
      throw notFound("open quarantined record", id, "`crm-sync quarantine list` lists them");
    const isOpen = results.some(({ kind }) => kind === "still-unusable" || kind === "left-out");
    return {
      json: { results },
      text: retriedLines(results).join("\n") || "nothing waits in quarantine",
      exit: isOpen ? exitCodes.recordsRejected : ok,
    };
  });
}

function retriedLines(results: readonly Retried[]): string[] {
  const leftOut = results.filter(({ kind }) => kind === "left-out").map(({ id }) => id);
  const lines = results.flatMap((result) => (result.kind === "left-out" ? [] : safeLines(retriedText(result))));
  if (leftOut.length === 0) return lines;
  return [
    ...lines,
    `left out ${counted(leftOut.length, "row")} that may be another record: ${leftOut.join(", ")}`,
    "  → crm-sync quarantine show ID shows one of them, crm-sync quarantine retry ID accepts it unchanged",
  ];
}

function retriedText(result: Exclude<Retried, { kind: "left-out" }>): string {
  switch (result.kind) {
    case "taken-up":
      return `${result.id}: usable now; the next run takes it up`;
    case "skipped":
      return `${result.id}: its stream skips it now (\`skip\`); it waits no more, and its earlier record stays`;
    case "still-unusable":
      return `${result.id}: still not usable: ${result.message}\n  → correct the record in the CRM, or the mapping`;
    case "waits-for-source":
      return [
        `${result.id}: not now, because ${result.why}`,
        "  → it is mapped anew when its source is read the next time",
      ].join("\n");
    case "unknown":
      return `${result.id}: does not wait any more`;
  }
}
