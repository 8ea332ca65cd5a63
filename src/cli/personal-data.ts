import { deciderOf, decisionOf, parseKey, type DecisionWords } from "./words.ts";
import type { ErasedByHand } from "../requests/erase.ts";
import { toJson } from "../base/canonical-json.ts";
import { type ExitCode, exitCodes, usage } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { counted } from "../report/text.ts";
import { ok, withLedger, type Invocation } from "./command.ts";
import { safeLines, viewOf } from "./output.ts";

interface WhoseWords {
  customer?: string | undefined;
  person?: string | undefined;
}

function whoseOf({ customer, person }: WhoseWords, namespace: string): { customer: RecordKey } | { person: RecordKey } {
  if (customer !== undefined && person === undefined) return { customer: parseKey(customer, namespace) };
  if (person !== undefined && customer === undefined) return { person: parseKey(person, namespace) };
  throw usage("say whose data is meant", "name one: --customer ID or --person ID");
}

export async function eraseCommand(invocation: Invocation, words: WhoseWords & DecisionWords): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const whose = whoseOf(words, application.config.namespace);
    const decided = decisionOf(words);
    const { eraseByHand } = await import("../requests/erase.ts");
    const erased = await eraseByHand(application, whose, decided);
    return {
      json: { ...erased, people: erased.people.map(formatKey) },
      text: safeLines(erasedText(erased).join("\n")),
      exit: erased.bytesLeft === undefined ? ok : exitCodes.other,
    };
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

/** `audit subject`: writes personal data to a file for its owner alone, or to stdout. It is never logged. */
export async function subjectCommand(
  invocation: Invocation,
  words: WhoseWords & { by?: string | undefined; out?: string | undefined },
): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withLedger(invocation, async (application) => {
    const { zone, namespace } = application.config;
    const { subjectFacts } = await import("../requests/private-shown.ts");
    const facts = await subjectFacts(application, whoseOf(words, namespace), deciderOf(words.by));
    const { subjectText } = await import("../report/subject.ts");
    const text = options.json ? `${JSON.stringify(toJson(facts))}\n` : `${subjectText(facts, viewOf(output, zone))}\n`;
    const { toFileOrStdout } = await import("./stdout.ts");
    await toFileOrStdout(output, words.out, [text], { what: "personal data", group: undefined });
    if (words.out !== undefined) output.note(`${words.out} written, for its owner alone`);
    return ok;
  });
}
