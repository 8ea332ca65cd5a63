import type { ErasedByHand } from "../requests/erase.ts";
import { toJson } from "../base/canonical-json.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes, usage } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { counted } from "../report/text.ts";
import { ok, withLedger } from "./command.ts";
import type { Invocation } from "./command.ts";
import { deciderOf } from "./decider.ts";
import { parseKey } from "./keys.ts";
import { safeLines } from "./output.ts";
import { requireReason } from "../requests/reason.ts";

/** Whose data is meant, as a person writes it. */
export interface WhoseWords {
  customer?: string | undefined;
  person?: string | undefined;
}

/** A customer or a person, one of the two. */
export function whoseOf(
  { customer, person }: WhoseWords,
  namespace: string,
): { customer: RecordKey } | { person: RecordKey } {
  if (customer !== undefined && person === undefined) return { customer: parseKey(customer, namespace) };
  if (person !== undefined && customer === undefined) return { person: parseKey(person, namespace) };
  throw usage("say whose data is meant", "name one: --customer ID or --person ID");
}

/** `audit erase`: personal data goes, and what was done stays. */
export async function eraseCommand(
  invocation: Invocation,
  words: WhoseWords & { reason?: string | undefined; by?: string | undefined },
): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const whose = whoseOf(words, application.config.namespace);
    const decided = { reason: requireReason(words.reason), by: deciderOf(words.by) };
    const { eraseByHand } = await import("../requests/erase.ts");
    const erased = await eraseByHand(application, whose, decided);
    if (options.json) output.json(toJson({ ...erased, people: erased.people.map(formatKey) }));
    else output.line(safeLines(erasedText(erased).join("\n")));
    return erased.bytesLeft === undefined ? ok : exitCodes.other;
  });
}

function erasedText({ of, counts, people, entry, bytesLeft, byHand }: ErasedByHand): string[] {
  const name = [of, ...people.map((key) => `staff:${formatKey(key)}`).filter((one) => one !== of)].join(", ");
  const { values, rawForms, answers, passwords, texts } = counts;
  const said =
    entry === undefined
      ? `there is nothing left to erase of ${name}`
      : `erased ${name}: ${counted(values, "version")} of private values, ${counted(rawForms, "raw form")}, ` +
        `${counted(answers, "kept answer")}, ${counted(passwords, "sealed password")}, ` +
        `${counted(texts, "row")} with words of others; audit entry ${entry.sequence}`;
  const bytes =
    bytesLeft === undefined
      ? []
      : [
          `its bytes may be left in the file of the ledger: ${bytesLeft}`,
          "  → run the command again, which overwrites them",
        ];
  return [said, ...bytes, "", "delete these yourself:", ...byHand.map(({ what, where }) => `  ${what}: ${where}`)];
}
