import type { Application } from "../../operate/application.ts";
import { askForPrivate, searchPeople } from "../../requests/private-shown.ts";
import { toInstant } from "../../base/clock.ts";
import { type ExitCode, exitCodes, Problem, usage } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Stream } from "../../crm/model.ts";
import type { Found } from "../../inquiry/find.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { isBeginning, isTold, mostFound, type ExplainFacts } from "../../report/explain.ts";
import type { ExplainNames } from "../../report/explain-text.ts";
import { explainCommand as commandOf, recordName } from "../../report/text.ts";
import { ok, readingOf, withLedger, withReader, type Invocation } from "../command.ts";
import { byWhom, example, type Register } from "../command-line.ts";
import { deciderOf, parseKey } from "../words.ts";
import type { Output } from "../output.ts";

export const addExplain: Register = (program, carryOut) => {
  program
    .command("explain")
    .description("what happened to one record, how it is now, and what to do")
    .argument("<stream>", "customer, order or staff; an ID alone finds the record of any of them")
    .argument("[id]", "ID, or NAMESPACE/ID")
    .option("--show-private", "names of people, also to find them by; the audit log says who looked", false)
    .option(...byWhom)
    .addHelpText(
      "after",
      example(
        "crm-sync explain order 10248",
        "crm-sync explain 10248",
        'crm-sync explain staff "Jana N" --show-private',
      ),
    )
    .action((stream, id, options) => carryOut((invocation) => explainCommand(invocation, stream, id, options)));
};

const streamNames: Record<string, Stream> = {
  customer: "customers",
  customers: "customers",
  order: "orders",
  orders: "orders",
  staff: "staff",
};

async function explainCommand(
  invocation: Invocation,
  first: string,
  second: string | undefined,
  { showPrivate, by }: { showPrivate: boolean; by?: string | undefined },
): Promise<ExitCode> {
  const { output } = invocation;
  const privateFor = showPrivate ? deciderOf(by) : undefined;
  const named = streamNames[first];
  if (second === undefined && named !== undefined)
    throw usage(`explain ${first} needs an id`, `crm-sync explain ${first} ID`);
  if (second !== undefined && named === undefined)
    throw usage(`there are no records of the kind ${JSON.stringify(first)}`, "use customer, order or staff");
  return await (showPrivate ? withLedger : withReader)(invocation, async (application) => {
    const streams: Sought["streams"] = named === undefined ? ["orders", "customers", "staff"] : [named];
    const facts = await explained(application, output, { streams, text: second ?? first, privateFor });
    const { explainText } = await import("../../report/explain-text.ts");
    if (!isTold(facts) && named !== "orders" && !showPrivate)
      output.note("people are found by name or login with --show-private");
    return {
      json: facts,
      text: async (view) =>
        explainText(facts, toInstant(application.clock.now()), view, await namesOf(application, facts, privateFor)),
      exit: isTold(facts) ? ok : exitCodes.usage,
    };
  });
}

/** Names of the record and its company. A person's name is shown only to somebody whom the audit log names. */
async function namesOf(
  application: Application,
  { stream, key, record }: ExplainFacts,
  privateFor: string | undefined,
): Promise<ExplainNames> {
  if (record === null) return {};
  const inquiry = await application.inquiry();
  const companies = await inquiry.companyNames(record.customer);
  const [company] = companies;
  if (stream === "customers" && company !== undefined)
    return { own: company.name, byMark: new Map(companies.map(({ commitment, name }) => [commitment, name])) };
  if (stream === "orders" || privateFor === undefined) return { customer: company?.name };
  const shown = await askForPrivate(readingOf(application, inquiry), { stream, key }, privateFor);
  return { own: shown?.values.find(({ field }) => field === "name")?.value, customer: company?.name };
}

interface Sought {
  streams: readonly [Stream, ...Stream[]];
  text: string;
  /** Who may see names: then people are also found by theirs. */
  privateFor: string | undefined;
}

/** The history of a record by id, otherwise by whatever else matches. */
async function explained(application: Application, output: Output, sought: Sought): Promise<ExplainFacts> {
  const inquiry = await application.inquiry();
  const [first, ...more] = sought.streams;
  const key = parseKey(sought.text, application.config.namespace);
  const all: [ExplainFacts, ...ExplainFacts[]] = [await inquiry.explain(first, key)];
  for (const stream of more) all.push(await inquiry.explain(stream, key));
  const having = all.filter(isTold);
  const [told = all[0], ...others] = having;
  if (others.length > 0) {
    const message = `${having.length} records have the id ${formatKey(key)}: one each in ${having.map(({ stream }) => stream).join(" and ")}`;
    const commands = having.map(({ stream }) => commandOf(stream, key)).join(", ");
    throw ambiguous("record.ambiguous", message, `choose one of them: ${commands}`);
  }
  const found = having.length > 0 ? [] : await matching(application, inquiry, sought);
  const [only] = found;
  if (only === undefined) return told;
  if (found.length > 1) {
    const least = found.length >= mostFound ? "at least " : "";
    const names = found.map((one) => formatKey(one.key)).join(", ");
    const message = `${least}${found.length} records match: ${names}`;
    throw ambiguous("record.ambiguous", message, `choose one of them: ${commandOf(only.stream, only.key)}`);
  }
  output.note(`found by ${isBeginning(only) ? "the" : "its"} ${only.by}: ${recordName(only.stream, only.key)}`);
  return await inquiry.explain(only.stream, only.key);
}

/** Records of the first stream with a match. A whole name does not mean records whose name only begins with it. */
async function matching(
  application: Application,
  inquiry: Inquiry,
  { streams, text, privateFor: by }: Sought,
): Promise<(Found & { stream: Stream })[]> {
  const people = by === undefined ? [] : await searchPeople(application, (question) => question(inquiry), { text, by });
  const all: (Found & { stream: Stream })[] = [];
  for (const stream of streams) {
    for (const one of await inquiry.find(stream, text)) all.push({ ...one, stream });
    all.push(...people.filter((person) => person.stream === stream));
  }
  const whole = all.filter((one) => !isBeginning(one));
  const found = whole.length > 0 ? whole : all;
  return found.filter(({ stream }) => stream === found[0]?.stream);
}

function ambiguous(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}
