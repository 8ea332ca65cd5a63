import type { Application } from "../../operate/application.ts";
import { askForPrivate, searchPeople } from "../../requests/private-shown.ts";
import { toJson } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { type ExitCode, exitCodes, Problem, usage } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Stream } from "../../crm/model.ts";
import type { Found } from "../../inquiry/find.ts";
import { isBeginning, isTold, mostFound, type ExplainFacts } from "../../report/explain.ts";
import type { ExplainNames } from "../../report/explain-text.ts";
import { explainCommand as commandOf, recordName } from "../../report/text.ts";
import { ok, readingOf, withLedger, withReader, type Invocation } from "../command.ts";
import { byWhom, example, type Register } from "../command-line.ts";
import { deciderOf, parseKey } from "../words.ts";
import { viewOf, type Output } from "../output.ts";

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
  const { output, options } = invocation;
  const privateFor = showPrivate ? deciderOf(by) : undefined;
  const named = streamNames[first];
  if (second === undefined && named !== undefined)
    throw usage(`explain ${first} needs an id`, `crm-sync explain ${first} ID`);
  if (second !== undefined && named === undefined)
    throw usage(`there are no records of the kind ${JSON.stringify(first)}`, "use customer, order or staff");
  return await (showPrivate ? withLedger : withReader)(invocation, async (application) => {
    const text = second ?? first;
    const stream = named ?? (await streamOf(application, text));
    const facts = await explained(application, output, { stream, text, privateFor });
    if (options.json) output.json(toJson(facts));
    else {
      const { explainText } = await import("../../report/explain-text.ts");
      const view = viewOf(output, application.config.zone);
      output.line(
        explainText(facts, toInstant(application.clock.now()), view, await namesOf(application, facts, privateFor)),
      );
    }
    if (isTold(facts)) return ok;
    if (stream !== "orders" && !showPrivate) output.note("people are found by name or login with --show-private");
    return exitCodes.usage;
  });
}

/** The stream that has a record with this id; otherwise orders. */
async function streamOf(application: Application, text: string): Promise<Stream> {
  const inquiry = await application.inquiry();
  const key = parseKey(text, application.config.namespace);
  const having: Stream[] = [];
  for (const stream of ["orders", "customers", "staff"] as const)
    if (isTold(await inquiry.explain(stream, key))) having.push(stream);
  const [stream = "orders", ...others] = having;
  if (others.length === 0) return stream;
  throw new Problem({
    code: "record.ambiguous",
    message: `${having.length} records have the id ${formatKey(key)}: one each in ${having.join(" and ")}`,
    cure: `choose one of them: ${having.map((one) => commandOf(one, key)).join(", ")}`,
    exitCode: exitCodes.usage,
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

/**
 * The history of a record by id, otherwise by a match in another namespace, an asset number, another number or a
 * company name. `privateFor`: who may see names; then also by a person's name.
 */
async function explained(
  application: Application,
  output: Output,
  { stream, text, privateFor: by }: { stream: Stream; text: string; privateFor: string | undefined },
): Promise<ExplainFacts> {
  const inquiry = await application.inquiry();
  const facts = await inquiry.explain(stream, parseKey(text, application.config.namespace));
  if (isTold(facts)) return facts;
  const all: Found[] = await inquiry.find(stream, text);
  if (by !== undefined) {
    const people = await searchPeople(application, (question) => question(inquiry), { text, by });
    all.push(...people.filter((person) => person.stream === stream));
  }
  // A whole name does not mean people whose name only begins with it.
  const whole = all.filter((one) => !isBeginning(one));
  const found = whole.length > 0 ? whole : all;
  const [only, ...others] = found;
  if (only === undefined) return facts;
  if (others.length > 0) {
    throw new Problem({
      code: "record.ambiguous",
      message:
        `${found.length >= mostFound ? "at least " : ""}${found.length} records match: ` +
        found.map((item) => formatKey(item.key)).join(", "),
      cure: `choose one of them: ${commandOf(stream, only.key)}`,
      exitCode: exitCodes.usage,
    });
  }
  output.note(`found by ${isBeginning(only) ? "the" : "its"} ${only.by}: ${recordName(stream, only.key)}`);
  return await inquiry.explain(stream, only.key);
}
