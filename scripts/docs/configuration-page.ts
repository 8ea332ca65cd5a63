import { configSchema } from "../../src/config/config.ts";
import { jsonSchemaOf } from "../../src/config/schema.ts";
import { code, page, table, yaml } from "./markdown.ts";
import { inPlace, sectionsOf } from "./settings.ts";
import type { Section, SettingRow } from "./settings.ts";

const sentence = (text: string): string => (/[.!?]$/u.test(text) ? text : `${text}.`);

function meaningOf(row: SettingRow): string {
  const text = sentence(row.description ?? "");
  if (row.keysAt === undefined) return text;
  const { place, without, ofEntries } = row.keysAt;
  const what = ofEntries ? "Keys of an entry" : "Keys";
  if (place.startsWith(row.key)) return `${text} ${what}: below.`;
  const less = without.length === 0 ? "" : `, without ${without.map(code).join(", ")}`;
  return `${text} ${what}: as ${code(place)}${less}.`;
}

function part(section: Section): string[] {
  const rows = section.rows.map((row) => [
    code(row.key.slice(section.place === "" ? 0 : section.place.length + 1)),
    row.type,
    row.required ? "required" : row.default === undefined || row.default === "{}" ? "" : code(row.default),
    meaningOf(row),
  ]);
  const examples = section.examples.filter((example) => Object.keys(example).length > 0);
  const depth = section.place === "" ? 2 : Math.min(2 + section.place.split(".").length - 1, 4);
  return [
    `${"#".repeat(depth)} ${section.place === "" ? "Top level" : code(section.place)}`,
    ...(section.description === undefined ? [] : [sentence(section.description)]),
    table(["Key", "Type", "Default", "Meaning"], rows),
    ...(section.place === "" ? [] : examples.map((example) => yaml(inPlace(section, example, false)))),
  ];
}

/** The reference of the configuration. */
export function configurationPage(): string {
  return page([
    "# The configuration",
    "A YAML file of at most 1 MiB; `crm-sync init` writes one to start from. In editors `config/schema.json` " +
      "completes and checks keys, fields, expressions, conditions and paths. `crm-sync check` says all that is " +
      "wrong with it at once, with file, line and cure, and stops with exit code 78. A key that is not listed " +
      "here is refused.",
    "`*` stands for a name that you choose, `[]` for an entry " +
      "of a list, `<…>` for one of several shapes, named by its " +
      "`kind` or by the key that makes it that shape.",
    "A setting may also come from the environment: `CRM_SYNC__orderService__callsAtOnce=4` is " +
      "`orderService.callsAtOnce: 4` and lies over the file. Secrets never stand in the file: `env:NAME` names a " +
      "variable of the environment, `file:/path` a file that holds nothing else.",
    "A source may begin with `preset: NAME`, the settings of a well-known CRM, and say only what is its own " +
      "([presets.md](presets.md)).",
    "The examples have every key of their map; a key that is " +
      "left out has its default. What the assumptions A1–A43 mean " +
      "stands in [assumptions.md](assumptions.md), how a mapping is written in [mapping.md](mapping.md).",
    ...sectionsOf(jsonSchemaOf(configSchema)).flatMap(part),
  ]);
}
