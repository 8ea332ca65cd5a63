import type { Json } from "../../src/base/canonical-json.ts";
import { privateFields, recordSchemas, secretFields, streams, type Stream } from "../../src/crm/model.ts";
import { coercions } from "../../src/source/mapping/coerce.ts";
import {
  compositionReference,
  conditionReference,
  type ConditionReference,
} from "../../src/source/mapping/condition.ts";
import type { ExpressionExample, Operator } from "../../src/source/mapping/operators/operator.ts";
import { valueTable, type LookupTable } from "../../src/source/mapping/context.ts";
import { listEntryReference } from "../../src/source/mapping/fields.ts";
import { operators } from "../../src/source/mapping/operators.ts";
import { pathExamples } from "../../src/source/mapping/path.ts";
import { recordExamples } from "./record-examples.ts";
import { code, inline, page, table, yaml } from "./markdown.ts";
import { fieldsOf } from "./target-fields.ts";

/** The look-up tables that the examples use. */
export const exampleTables: ReadonlyMap<string, LookupTable> = new Map([
  ["regions", valueTable({ DE: "EMEA", US: "AMER" })],
  ["packs", { columns: ["product", "seats"], rows: new Map([["CAD-10", ["CAD", "10"]]]) }],
]);

const result = (example: { gives?: Json; refused?: string }): string =>
  example.refused !== undefined
    ? `refused: ${code(example.refused)}`
    : example.gives === undefined
      ? "nothing"
      : code(inline(example.gives));

/** So many operators with the same refusal share its text. */
const minShared = 4;

const refusalsOfAll = Object.values(operators).flatMap(({ reference }) => Object.entries(reference.refuses ?? {}));
const sharedRefusals = [...Map.groupBy(refusalsOfAll, ([name, when]) => JSON.stringify([name, when])).values()]
  .filter(({ length }) => length >= minShared)
  .flatMap(([first]) => (first === undefined ? [] : [first]));

function isShared([name, when]: readonly [string, string]): boolean {
  return sharedRefusals.some(([other, text]) => other === name && text === when);
}

function refusalTable(rows: readonly (readonly [string, string])[]): string {
  return table(
    ["Refuses with", "when"],
    rows.map(([name, when]) => [code(name), when]),
  );
}

/** What an operator refuses: in words of its own, or by the name of a refusal that many have. */
function refusals(refuses: Readonly<Record<string, string>>): string[] {
  const entries = Object.entries(refuses);
  const own = entries.filter((entry) => !isShared(entry));
  const shared = entries.filter(isShared).map(([name]) => code(name));
  return [
    ...(shared.length === 0 ? [] : [`Refuses as [others do](#refusals): ${shared.join(", ")}.`]),
    ...(own.length === 0 ? [] : [refusalTable(own)]),
  ];
}

function exampleTable(examples: readonly ExpressionExample[]): string {
  return table(
    ["Expression", "Record", "Gives"],
    examples.map((example) => [code(inline(example.expression)), code(inline(example.record)), result(example)]),
  );
}

function operatorPart(name: string, { reference }: Operator): string[] {
  const options = Object.entries(reference.options ?? {});
  return [
    `### ${code(name)}`,
    `    ${reference.form}`,
    reference.does,
    ...(options.length === 0
      ? []
      : [
          table(
            ["Key", "Meaning"],
            options.map(([key, means]) => [code(key), means]),
          ),
        ]),
    ...refusals(reference.refuses ?? {}),
    exampleTable(reference.examples),
  ];
}

function coercionPart(): string[] {
  const rows = Object.entries(coercions).map(([kind, { takes, refuses }]) => [
    code(kind),
    takes,
    Object.entries(refuses)
      .map(([name, when]) => `${code(name)}: ${when}`)
      .join("; "),
  ]);
  return [table(["Type", "Takes", "Refuses with"], rows)];
}

function streamPart(stream: Stream): string[] {
  const example = recordExamples[stream];
  const rows = fieldsOf(recordSchemas[stream]).map((field) => [
    code(field.name),
    field.type,
    field.required ? "required" : field.default === undefined ? "" : code(field.default),
    [
      field.description,
      privateFields[stream].includes(field.name) ? "Private." : "",
      secretFields[stream].some((secret) => secret.replace("instances[]", "instances<product>[]") === field.name)
        ? "Its mapping is a plain path."
        : "",
    ]
      .filter((part) => part !== "")
      .join(" "),
  ]);
  return [
    `### ${stream}`,
    table(["Field", "Type", "Default", "Meaning"], rows),
    "A whole mapping, a raw record, and the canonical record that comes of it:",
    yaml({ mapping: example.mapping }),
    yaml({ record: example.record }),
    yaml({ gives: example.gives }),
  ];
}

function conditionTable(first: string, references: readonly ConditionReference[]): string {
  return table(
    [first, "Holds where", "Example", "Record", "Holds"],
    references.flatMap(({ key, holds, examples }) =>
      examples.map((example) => [
        code(key),
        holds,
        code(inline(example.condition)),
        code(inline(example.record)),
        example.refused === undefined ? (example.holds === true ? "yes" : "no") : `refused: ${code(example.refused)}`,
      ]),
    ),
  );
}

function conditionPart(): string[] {
  return [
    "## Conditions",
    "`{path: EXPRESSION, TEST: …}` with exactly one of these tests. Use them in the operator `when`, in `where` of " +
      "lists, in `when` of the entry of a list, and in `skip` of a stream. Where nothing is found, no test holds but " +
      "`present: false`.",
    conditionTable("Test", conditionReference),
    "Conditions are put together with one of these keys:",
    conditionTable("Key", compositionReference),
    "### Records that are skipped",
    "`skip: CONDITION` beside the `mapping` of a stream leaves records out: " +
      `${code("skip: {any: [{path: status, equals: draft}, {path: status, equals: template}]}")}. They count as ` +
      "skipped in the run and its balance, and are neither in quarantine nor missing: a record that was " +
      "known before does not change, and nothing is removed. " +
      "What ends an order is `cancelled`, never `skip`. If the condition " +
      "cannot be told (text that is no number, with `above`), the record goes into quarantine. One whose `id` " +
      "cannot be " +
      "read may be any record, so that nothing counts as gone in that reading; one that has none at all is no record.",
  ];
}

function listPart(): string[] {
  return [
    "## Lists of objects",
    "A field that holds a list of objects (`instances` of an " +
      "order, `assets` of staff) is written as entries, one or a " +
      "list of them, that follow each other. Something else than a list or an object at `each` is refused with " +
      "`not-a-list`. The mapping of orders below uses two entries.",
    table(
      ["Key of an entry", "Meaning"],
      Object.entries(listEntryReference).map(([key, means]) => [code(key), means]),
    ),
    "A field that holds one object (`mergedInto` of a customer) is written as its fields: " +
      `${code("{id: PATH}")}. It is left out if one of its required fields has no value.`,
  ];
}

/** The reference of the mapping language. */
export function mappingPage(): string {
  return page([
    "# The mapping",
    "A mapping turns each raw record of a source into a canonical customer, order or staff record. It is " +
      "in the configuration under `sources.NAME.streams.STREAM.mapping` " +
      "and says for each target field which expression fills " +
      "it. A mistake in the mapping itself stops `crm-sync` at its start, with file, line and key; a record that " +
      "does not fit goes into quarantine, with field, code, and the type, length and shape of the value, " +
      "never the value itself.",
    "An expression gives a value or nothing. A required field that gets nothing, and has no default, is refused with " +
      "`missing`; a whole record that does not fit the canonical model otherwise, with `does-not-fit`. The first " +
      "refusal of a record counts.",
    "An expression is a path, or an object with one operator. Beside every operator `default` may stand: a constant " +
      "for when it gives nothing. A refusal is not nothing.",
    "## Paths",
    table(
      ["Path", "Is", "Record", "Gives"],
      pathExamples.map((example) => [
        code(inline(example.expression)),
        example.means,
        code(inline(example.record)),
        result(example),
      ]),
    ),
    "The texts in `nullTexts` of the stream also mean an empty value. Inside `each` of a list, `.` is " +
      "the element and `^.` " +
      "goes to the item around it, as often as it stands.",
    "## Operators",
    "Where text is wanted, a number is taken as the source writes it. LIST: one object or value counts as a list of " +
      "one, and elements that mean nothing are left out. Of `plusTerm`, the instant is what `date` gives, or an ISO time " +
      "with Z or an offset.",
    "The look-up table `regions` of the examples holds DE → EMEA and US → AMER; `packs` has the columns " +
      "`product` and " +
      "`seats`: CAD-10 → CAD, 10.",
    "### Refusals",
    "Many operators refuse a value with one of these:",
    refusalTable(sharedRefusals),
    ...Object.entries(operators).flatMap(([name, operator]) => operatorPart(name, operator)),
    ...conditionPart(),
    ...listPart(),
    "## Types of the target fields",
    "The value of an expression is converted into the type of the field:",
    ...coercionPart(),
    "## Target fields",
    "`[]` means an element of a list, `<kind>` for one " +
      "kind of element. Journal, plan and audit hold a reference instead of private fields; their values " +
      "can be erased. A secret is sealed before it is stored, and its place is " +
      "blanked in the raw record that is kept: its mapping is a plain path that nothing else reads.",
    ...streams.flatMap(streamPart),
  ]);
}
