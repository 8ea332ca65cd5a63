import { toJson } from "../../base/canonical-json.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes, usage } from "../../base/errors.ts";
import type { StreamSchema } from "../../setup/stream-schema.ts";
import type { Stream } from "../../crm/model.ts";
import { renderTable } from "../../report/table.ts";
import { counted } from "../../report/text.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example, wholeNumber } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { describeProblem, viewOf } from "../output.ts";
import type { Output } from "../output.ts";
import { sourceAndStream, sourceNamed } from "../stream.ts";

export const register: Register = (program, carryOut) => {
  program
    .command("schema")
    .description("fields of a source, with types, examples and how often they are filled; nothing is kept")
    .argument("<source>", "name of the source in the configuration")
    .argument("[stream]", "customers, orders or staff (default: each that the source has)")
    .option("--limit <number>", "how many rows are read of each stream", wholeNumber, 1_000)
    .option("--show-private", "with personal data; secrets are never shown", false)
    .addHelpText("after", example("crm-sync schema erp orders"))
    .action((source, stream, options) => carryOut((invocation) => schemaCommand(invocation, source, stream, options)));
};

/** `schema`: ends with 7 where a stream cannot be read. */
async function schemaCommand(
  invocation: Invocation,
  sourceName: string,
  streamName: string | undefined,
  { limit, showPrivate }: { limit: number; showPrivate: boolean },
): Promise<ExitCode> {
  const { output, signal, options } = invocation;
  return await withApplication(
    invocation,
    async (application) => {
      if (limit === 0) throw usage("--limit 0 shows nothing", "give at least 1");
      const { streamSchema } = await import("../../setup/stream-schema.ts");
      const source = sourceNamed(application, sourceName);
      const wanted =
        streamName === undefined ? source.streams : [sourceAndStream(application, sourceName, streamName).stream];
      const found: { stream: Stream; schema: StreamSchema }[] = [];
      for (const stream of wanted)
        found.push({ stream, schema: await streamSchema(source, stream, { limit, showPrivate, signal }) });
      for (const { stream, schema } of found) {
        if (options.json)
          output.json(toJson({ source: source.name, stream, ...schema, problem: schema.problem?.message ?? null }));
        else show(output, source.name, stream, schema, application.config.zone);
      }
      return found.some(({ schema }) => schema.problem !== undefined) ? exitCodes.sourceDown : exitCodes.ok;
    },
    { services: false, source: sourceName },
  );
}

function show(output: Output, source: string, stream: Stream, schema: StreamSchema, zone: string): void {
  const { rows, fields, problem } = schema;
  output.line(`source ${source}, ${stream}: ${wayOf(schema)}`);
  if (fields.length > 0) {
    const columns = [
      { title: "field" },
      { title: "types" },
      { title: "filled", align: "right" as const },
      { title: "read for" },
      { title: "example" },
    ];
    const lines = fields.map(({ place, types, filled, fields: readFor, example: shown }) => [
      place,
      types.join(", "),
      `${Math.floor((filled / rows) * 100)} %`,
      readFor.join(", ") || "-",
      shown,
    ]);
    output.line(renderTable(columns, lines, viewOf(output, zone)));
  }
  if (problem !== undefined) output.note(describeProblem(problem, zone));
}

function wayOf({ rows, isAll, problem }: StreamSchema): string {
  if (problem === undefined) return `${isAll ? "all" : "the first"} ${counted(rows, "row")}`;
  return rows === 0 ? "could not be read" : `${counted(rows, "row")}; it could not be read whole`;
}
