import { join } from "node:path";
import { Document, isCollection, isMap, isNode, isScalar } from "yaml";
import type { JsonObject } from "../base/canonical-json.ts";
import { usage } from "../base/errors.ts";
import { projectFolder } from "../base/program-version.ts";
import { assumptionSettingsSchema, missingAssumptions } from "../contract/assumption-settings.ts";
import { streams } from "../crm/model.ts";
import type { Doubt } from "../source/proposal/columns.ts";
import { used } from "./check.ts";
import { type Proposal, type ProposedStream, presetNames, readPreset } from "./init-from.ts";

const sealKeyVariable = "SEAL_KEY";

export const sourceOfFiles = "files";

export interface WrittenConfiguration {
  text: string;
  doubts: { line: number; key: string; text: string }[];
}

export function proposalText({ source, streams: proposed }: Proposal, zone: string): WrittenConfiguration {
  const inOrder = streams.flatMap((name) => proposed.filter(({ stream }) => stream === name));
  const written = Object.fromEntries(inOrder.map((item) => [item.stream, settingsOf(item)]));
  const document = newDocument(
    { [sourceOfFiles]: { ...source, streams: written } },
    { zone, hasStaff: proposed.some(({ stream }) => stream === "staff") },
  );
  for (const item of inOrder) {
    const at = ["sources", sourceOfFiles, "streams", item.stream];
    const doubts = item.doubts.map((text) => doubtComment({ at: [], text }));
    const ofNoField = item.fields.filter(({ expression }) => expression === undefined);
    for (const { field, doubts: own } of ofNoField)
      doubts.push(...own.map((doubt) => doubtComment({ ...doubt, text: `${field} stays empty: ${doubt.text}` })));
    if (item.skip !== undefined) comment(document, [...at, "skip"], doubtComment(item.skip.doubt));
    comment(document, at, [` from ${item.from.join(", ")}`, ...doubts].join("\n"));
    for (const { field, expression, doubts: own } of item.fields)
      if (expression !== undefined)
        for (const doubt of own) comment(document, [...at, "mapping", field, ...doubt.at], doubtComment(doubt));
  }
  return finished(document);
}

function newDocument(
  sources: Record<string, unknown>,
  { zone, hasStaff }: { zone: string; hasStaff: boolean },
): Document {
  const ledger = { path: "ledger/ledger.db", ...(hasStaff ? { sealKey: `env:${sealKeyVariable}` } : {}) };
  const document = new Document({ ledger, zone, sources }, { aliasDuplicateObjects: false });
  document.commentBefore = [
    ` yaml-language-server: $schema=${join(projectFolder, "config/schema.json")}`,
    " DOUBT marks a guess: check each. `crm-sync --sandbox map SOURCE STREAM` shows how your records are mapped.",
    ` Every other setting: ${join(projectFolder, "docs/reference/configuration.md")}`,
  ].join("\n");
  comment(
    document,
    ["ledger"],
    " The memory of crm-sync: records, calls and decisions. A file on a disk of this machine.",
  );
  if (hasStaff)
    comment(
      document,
      ["ledger", "sealKey"],
      " Seals the passwords of new staff: any long secret, kept apart from the ledger.",
    );
  comment(document, ["zone"], " Time zone of schedules and months.");
  comment(document, ["sources"], " Where the records of the CRM come from.");
  return document;
}

function finished(document: Document): WrittenConfiguration {
  const text = `${document.toString({ lineWidth: 120, nullStr: "" })}\n${beforeProduction()}`;
  const lines = text.split("\n");
  const doubts = lines.flatMap((line, index) => {
    const [, doubt] = /^ *# DOUBT: (.*)$/u.exec(line) ?? [];
    if (doubt === undefined) return [];
    const marked = lines.slice(index).find((below) => !/^ *#/u.test(below)) ?? "";
    const [, key = ""] = /^ *(?:- )?"?([^":]+)"?:/u.exec(marked) ?? [];
    return [{ line: index + 1, key, text: doubt }];
  });
  return { text, doubts };
}

function doubtComment({ text, notes = [] }: Doubt): string {
  return [` DOUBT: ${text}`, ...notes.map((note) => `   ${note}`)].join("\n");
}

function comment(document: Document, path: readonly (string | number)[], text: string): void {
  const around: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  const pair = isMap(around) ? around.items.find(({ key }) => (isScalar(key) ? key.value : key) === last) : undefined;
  if (pair !== undefined && !isNode(pair.key)) pair.key = document.createNode(last);
  const node: unknown = pair === undefined && isCollection(around) ? document.getIn(path, true) : pair?.key;
  if (isNode(node))
    node.commentBefore = [node.commentBefore, text].filter((part) => part !== null && part !== undefined).join("\n");
}

function settingsOf({ settings, fields, skip }: ProposedStream): JsonObject {
  const filled = fields.filter(({ expression }) => expression !== undefined);
  return {
    ...settings,
    ...(skip === undefined ? {} : { skip: skip.expression }),
    mapping: Object.fromEntries(filled.map(({ field, expression }) => [field, expression ?? null])),
  };
}

/** Where to find the answer to a question without a default. */
const whereToAsk: Readonly<Record<string, string>> = {
  productTypes:
    "The mapping gives the type of each product. The provider of the order service has the list; an order that was " +
    "placed without crm-sync shows words that are in use.",
  timeUnits: "The mapping gives the unit of each term. The provider of the order service has the list.",
};

function beforeProduction(): string {
  const asked = new Map<string, string>();
  const nothing = assumptionSettingsSchema.parse({});
  for (const endpoint of used)
    for (const { key, row, choices } of missingAssumptions(nothing, endpoint, []))
      asked.set(
        key,
        `${row}: ${whereToAsk[key] ?? "Ask the provider of the service."} Set it to ${choices.join(" or ")}.`,
      );
  return `# Before the first real order: the two services, and what only their providers know. The sandbox needs none of it.
# docs/how-to/go-to-production.md goes through it; \`crm-sync check\` names what is missing.
${serviceText("orderService", "orders", "ORDER", "auth_order")}
${serviceText("memberCenter", "members", "MEMBER", "auth_me")}
#    userToken: file:/run/secrets/user-token
#assumptions:
${[...asked].map(([key, question]) => `#  # ${question}\n#  ${key}:`).join("\n")}
`;
}

function serviceText(key: string, host: string, variable: string, scope: string): string {
  const appKey = key === "orderService" ? "\n#  appKey: your-application-key" : "";
  return `#${key}:
#  baseUrl: https://${host}.example.com${appKey}
#  tokens:
#    authorization:
#      oauth2:
#        tokenUrl: https://login.example.com/oauth/token
#        grant: client_credentials
#        clientId: your-application-key
#        clientSecret: env:${variable}_CLIENT_SECRET
#        scope: ${scope}`;
}

const ofDatabases = "postgres";

const placeholders: Readonly<Record<string, Record<string, string>>> = {
  postgres: { host: "db.example.com", database: "crm", user: "crm_sync", password: "env:CRM_DB_PASSWORD" },
  sqlite: { file: "crm.db" },
};

const doubtsOfDatabases = {
  connection: "where the database is; use an account that can only read",
  zone: "the zone of times that the database keeps without one",
  "streams.customers.query": "the tables and columns of customers",
  "streams.orders.query": "the tables and columns of orders",
  "streams.staff.query": "the tables and columns of staff",
};

/** Throws a Problem for an unknown name. */
export function templateText(name: string, zone: string): WrittenConfiguration {
  const dialect = Object.hasOwn(placeholders, name) ? name : undefined;
  const presets = presetNames().filter((preset) => preset !== ofDatabases);
  if (dialect === undefined && !presets.includes(name))
    throw usage(`there is no template ${name}`, `use one of: ${[...Object.keys(placeholders), ...presets].join(", ")}`);
  const preset = readPreset(dialect === undefined ? name : ofDatabases);
  const document = newDocument({}, { zone, hasStaff: true });
  const at = ["sources", "crm"];
  const settings = preset.document.contents;
  document.setIn(at, settings);
  const [about = ""] = preset.text.split("\n\nWritten from:");
  comment(document, at, about.replaceAll(/^(?=.)/gmu, " "));
  if (dialect !== undefined) {
    document.setIn([...at, "connection"], { kind: dialect, ...placeholders[dialect] });
    document.setIn([...at, "zone"], zone);
    settings?.items.splice(2, 0, ...settings.items.splice(-1));
  }
  for (const [path, what] of Object.entries(dialect === undefined ? preset.fill : doubtsOfDatabases)) {
    const steps = [...at, ...path.split(".")];
    if (!document.hasIn(steps)) document.setIn(steps, null);
    for (let length = at.length; length < steps.length; length += 1) {
      const around = document.getIn(steps.slice(0, length), true);
      if (isCollection(around)) around.flow = false;
    }
    comment(document, steps, doubtComment({ at: [], text: what }));
  }
  return finished(document);
}
