import { toJson } from "../../base/canonical-json.ts";
import { type ExitCode, exitCodes, usage } from "../../base/errors.ts";
import { withLocalInstants, type View } from "../../report/text.ts";
import { ok, withReader, withApplication, type Invocation } from "../command.ts";
import { example, byWhom, type Register } from "../command-line.ts";
import { deciderOf } from "../words.ts";

export const addBackup: Register = (program, carryOut) => {
  program
    .command("backup")
    .description("copy the ledger and the closed months into a folder, also during a run")
    .requiredOption("--to <folder>", "where to; made where it is missing, for the owner alone")
    .option("--keep <number>", "take older backups of this ledger away, so that so many stay (default: all stay)")
    .addHelpText(
      "after",
      `${example("crm-sync backup --to /mnt/elsewhere/crm-sync --keep 14")}
The copy counts once crm-sync has checked it and its audit log: then its manifest (.json) is beside it.
A job of the kind \`backup\` does the same on a schedule. \`crm-sync restore FILE\` puts one back.`,
    )
    .action((options) => carryOut((invocation) => backupCommand(invocation, options)));
  program
    .command("restore")
    .description("replace the ledger with a backup, and list the operations that are newer than it")
    .argument("<file>", "a backup that `crm-sync backup` made, with its manifest beside it")
    .option("--key <verifier...>", "the verifier keys that may have signed it, if it was not audit.signKey")
    .addHelpText(
      "after",
      `${example("crm-sync restore /mnt/elsewhere/crm-sync/ledger-20261101T023000.000Z.db")}
Stop the program first. crm-sync checks the backup before it changes anything, and keeps the old ledger beside it. Where
it lacks something that was done, it ends with exit 3, and whatever would write into that ledger is refused (exit 65)
until \`crm-sync rebuild\` has read the newer operations back from the platform.`,
    )
    .action((file, { key = [] }) => carryOut((invocation) => restoreCommand(invocation, file, key)));
};

function keptOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const keep = Number(text);
  if (Number.isSafeInteger(keep) && keep >= 1) return keep;
  throw usage(`--keep takes a whole number above 0, not ${text}`, "--keep 14");
}

function localLines(lines: readonly string[], view: View): string {
  return lines.map((line) => withLocalInstants(line, view)).join("\n");
}

async function backupCommand(
  invocation: Invocation,
  { to, keep }: { to: string; keep?: string | undefined },
): Promise<ExitCode> {
  const { output } = invocation;
  return await withReader(invocation, async (application) => {
    const { makeBackup } = await import("../../recovery/backup.ts");
    const { backupLines } = await import("../../report/backup.ts");
    const made = await makeBackup(application, {
      to,
      keep: keptOf(keep),
      progress: (done, total) => output.progress("copying pages", done, total),
    });
    const exit = made.clock === undefined ? ok : exitCodes.recordsRejected;
    return { json: made, text: (view) => localLines(backupLines(made), view), exit };
  });
}

async function restoreCommand(invocation: Invocation, file: string, verifiers: readonly string[]): Promise<ExitCode> {
  return await withReader(invocation, async (application) => {
    const { restoreBackup } = await import("../../recovery/restore.ts");
    const { restoredLines } = await import("../../report/backup.ts");
    const restored = await restoreBackup(application, file, verifiers);
    return {
      json: { ...restored, aside: restored.aside ?? null },
      text: (view) => localLines(restoredLines(restored), view),
      exit: restored.gap.kind === "none" ? ok : exitCodes.recordsRejected,
    };
  });
}

export const addRebuild: Register = (program, carryOut) => {
  program
    .command("rebuild")
    .description(
      "bring links, orders and assignments back into a ledger that is empty or was restored, by reading the platform",
    )
    .option("--dry-run", "say what would be brought back, and keep nothing")
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example("crm-sync rebuild --dry-run")}
It only reads. Use it for a new ledger after the old one was lost, or for an older copy: one that \`crm-sync restore\`
put back, or a copied file that lacks newer changes. A ledger that lacks nothing is refused (exit 65). An older copy
keeps its history:
records that agree with the platform stay, and the rest is read again. Until it has ended, every command that writes
is refused. It lists the rest that it cannot bring back. If that includes a record, or work is left, it ends with exit
3.`,
    )
    .action((options) => carryOut((invocation) => rebuildCommand(invocation, options)));
};

async function rebuildCommand(
  invocation: Invocation,
  { dryRun = false, by }: { dryRun?: boolean; by?: string | undefined },
): Promise<ExitCode> {
  const { output, options, signal } = invocation;
  return await withApplication(invocation, async (application) => {
    const { rebuild } = await import("../../recovery/rebuild.ts");
    const { neverRebuilt, rebuildText } = await import("../../report/backup.ts");
    return await rebuild(application, {
      by: deciderOf(by),
      dryRun,
      signal,
      show: (summary) => {
        const { run, state, customers, known, unreadable, lost, assumed, left, gap } = summary;
        const never = [...neverRebuilt(gap !== undefined)];
        if (options.json)
          output.result(
            toJson({
              run,
              state,
              dryRun,
              customers,
              known,
              unreadable,
              lost,
              assumed,
              left,
              never,
              ...(gap && { gap }),
            }),
          );
        else for (const line of rebuildText(summary, dryRun)) output.line(line);
      },
    });
  });
}
