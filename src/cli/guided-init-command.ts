import { usage } from "../base/errors.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes } from "../base/errors.ts";
import { counted } from "../report/text.ts";
import type { GuidedInit } from "../app/guided/guided-init.ts";
import { ok } from "./command.ts";
import type { Invocation } from "./command.ts";
import { checkCommand } from "./commands/check.ts";
import { planCommand } from "./commands/plan.ts";
import { safeLines } from "./output.ts";
import { personAtTerminal } from "./person-at-terminal.ts";
import { personByFile } from "./person-by-file.ts";

/** `init --interactive`: asks, writes, checks, and shows the plan of one customer. */
export async function guidedInitCommand(
  invocation: Invocation,
  path: string,
  answers: string | undefined,
): Promise<ExitCode> {
  const { options } = invocation;
  if (options.json)
    throw usage("--interactive talks to people, and --json to programs", "leave one out; `init --from` knows --json");
  const made = await ask(invocation, path, answers);
  return await show(invocation, made);
}

async function ask(
  { output, environment, signal, keyboard = process.stdin }: Invocation,
  path: string,
  answers: string | undefined,
): Promise<GuidedInit> {
  const { guidedInit } = await import("../app/guided/guided-init.ts");
  const asked = { path, environment, signal };
  if (answers !== undefined) return await guidedInit(personByFile(answers, output), asked);
  if (keyboard.isTTY !== true || !output.interactive)
    throw usage(
      "there is no terminal to ask at",
      "name the lists with `crm-sync init --from FILE-OR-URL`, or the answers with `--answers FILE`",
    );
  const { person, leave } = personAtTerminal(keyboard, output, signal);
  try {
    return await guidedInit(person, asked);
  } finally {
    leave();
  }
}

async function show(invocation: Invocation, made: GuidedInit): Promise<ExitCode> {
  const { output } = invocation;
  const { path, secrets, sandbox, streams, customer } = made;
  output.line(safeLines(`\n${path} was made, for its owner alone; it reads`));
  for (const { source, stream, from } of streams) output.line(safeLines(`  ${source}, ${stream}: ${from.join(", ")}`));
  if (secrets.length > 0)
    output.line(safeLines(`${counted(secrets.length, "secret")} stand in ${secrets.join(", ")}: keep a copy apart.`));
  const place: Invocation = {
    ...invocation,
    options: { config: path, json: false, sandbox: sandbox ? true : undefined },
  };
  const words = `crm-sync --config ${path}${sandbox ? " --sandbox" : ""}`;
  output.line(`\n$ ${words} check`);
  const checked = await checkCommand(place);
  if (checked !== ok) {
    output.line("\nCorrect what is BAD above, then ask again:");
    output.line(safeLines(`  ${words} check`));
    return checked;
  }
  const planned = customer === undefined ? ok : await planFor(place, words, customer);
  showNext(output, { words, path, sandbox, streams });
  return planned === exitCodes.changesPending ? ok : planned;
}

async function planFor(place: Invocation, words: string, customer: string): Promise<ExitCode> {
  place.output.line(safeLines(`\n$ ${words} plan --customer ${customer}`));
  return await planCommand(place, { customer });
}

function showNext(
  output: Invocation["output"],
  { words, path, sandbox, streams }: Pick<GuidedInit, "path" | "sandbox" | "streams"> & { words: string },
): void {
  const [first] = streams;
  output.line("\nNext:");
  const next: [string, string][] = [
    ...(first === undefined
      ? []
      : [
          [`${words} map ${first.source} ${first.stream}`, "what the mapping makes of records"] satisfies [
            string,
            string,
          ],
        ]),
    [`${words} plan`, "what would change for everybody; sends nothing"],
    [`${words} run customers-and-orders`, sandbox ? "does it, in the sandbox" : "does it"],
    [`crm-sync --config ${path} serve`, "does it by schedule; docs/operating.md has units and containers for it"],
  ];
  for (const [command, what] of next) output.line(safeLines(`  ${command}   # ${what}`));
  if (sandbox) output.line("For the real services, set orderService, memberCenter and assumptions in the file.");
}
