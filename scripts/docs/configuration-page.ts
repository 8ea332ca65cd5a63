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
    "The configuration is a YAML file of at most 1 MiB. `crm-sync init` writes one to start from, " +
      "`config/northwind.yaml` is a complete small one, and `config/schema.json` lets editors complete and check it. " +
      "`crm-sync check` names every mistake with file, line and hint, and ends with 78. An unknown key is a mistake.",
    "`*` is a name that you choose, `[]` an entry of a list, `<…>` one of several shapes, named by its `kind` or by " +
      "its own key.",
    "A setting may also come from the environment and overrides the file: `CRM_SYNC__orderService__callsAtOnce=4` " +
      "is `orderService.callsAtOnce: 4`. Secrets are never in the file: `env:NAME` names a variable of the " +
      "environment, `file:/path` a file that holds nothing else. Every address and every value of `query` and `headers` " +
      "takes such a reference too, which is read at the start; `crm-sync check` warns of a secret that is written out there.",
    "The examples have every key of their map; a missing key has its default. See also " +
      "[presets](presets.md), [the mapping](mapping.md) and [the assumptions A1–A43](assumptions.md).",
    ...sectionsOf(jsonSchemaOf(configSchema)).flatMap(part),
  ]);
}
