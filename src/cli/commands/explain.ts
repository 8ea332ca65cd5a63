import type { Application } from "../../app/application.ts";
import { toJson } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes, Problem, usage } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Stream } from "../../crm/model.ts";
import { isTold, mostFound } from "../../report/explain.ts";
import type { ExplainFacts } from "../../report/explain.ts";
import { explainCommand as commandOf, recordName } from "../../report/text.ts";
import { ok, withReader } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { parseKey } from "../keys.ts";
import { viewOf } from "../output.ts";
import type { Output } from "../output.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("explain")
    .description("the whole story of one record, also why nothing happened")
    .argument("<stream>", "customer, order or staff")
    .argument("<id>", "ID, or NAMESPACE/ID")
    .addHelpText("after", example("crm-sync explain order 10248"))
    .action((stream, id) => carryOut((invocation) => explainCommand(invocation, stream, id)));
};

const streamNames: Record<string, Stream> = {
  customer: "customers",
  customers: "customers",
  order: "orders",
  orders: "orders",
  staff: "staff",
};

export async function explainCommand(invocation: Invocation, kind: string, id: string): Promise<ExitCode> {
  const { output, options } = invocation;
  return await withReader(invocation, async (application) => {
    const stream = streamNames[kind];
    if (stream === undefined)
      throw usage(`there are no records of the kind ${JSON.stringify(kind)}`, "use customer, order or staff");
    const facts = await explained(application, output, stream, id);
    if (options.json) output.json(toJson(facts));
    else {
      const { explainText } = await import("../../report/explain-text.ts");
      output.line(explainText(facts, toInstant(application.clock.now()), viewOf(output, application.config.zone)));
    }
    return isTold(facts) ? ok : exitCodes.usage;
  });
}

/**
 * The story of the record with this id, or else of the one that has it in another namespace, or that an asset number,
 * another number, or a name belongs to.
 */
async function explained(
  application: Application,
  output: Output,
  stream: Stream,
  text: string,
): Promise<ExplainFacts> {
  const inquiry = await application.inquiry();
  const facts = await inquiry.explain(stream, parseKey(text, application.config.namespace));
  if (isTold(facts)) return facts;
  const all = await inquiry.find(stream, text);
  // Who writes a whole name means nobody whose name only begins so.
  const whole = all.filter(({ by }) => !by.startsWith("beginning"));
  const found = whole.length > 0 ? whole : all;
  const [only, ...others] = found;
  if (only === undefined) return facts;
  if (others.length > 0) {
    throw new Problem({
      code: "record.ambiguous",
      message:
        `${found.length === mostFound ? "at least " : ""}${found.length} records fit: ` +
        found.map((item) => formatKey(item.key)).join(", "),
      cure: `name one: ${commandOf(stream, only.key)}`,
      exitCode: exitCodes.usage,
    });
  }
  output.note(
    `found by ${only.by.startsWith("beginning") ? "the" : "its"} ${only.by}: ${recordName(stream, only.key)}`,
  );
  return await inquiry.explain(stream, only.key);
}
