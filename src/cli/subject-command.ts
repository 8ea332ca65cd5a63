import { toJson } from "../base/canonical-json.ts";
import type { ExitCode } from "../base/errors.ts";
import { ok, withLedger } from "./command.ts";
import type { Invocation } from "./command.ts";
import { deciderOf } from "./decider.ts";
import { viewOf } from "./output.ts";
import { whoseOf } from "./erase-command.ts";
import type { WhoseWords } from "./erase-command.ts";

/** `audit subject`: what is kept about a person, to a file for its owner alone or to stdout. It is never logged. */
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
    if (words.out === undefined) {
      const { toStdout } = await import("./stdout.ts");
      await toStdout(output, [text]);
      return ok;
    }
    const { writeWhole } = await import("../operate/written-files.ts");
    await writeWhole(words.out, [text], { what: "personal data", group: undefined });
    output.note(`${words.out} written, for its owner alone`);
    return ok;
  });
}
