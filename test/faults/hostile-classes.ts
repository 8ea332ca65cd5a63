import { customerRow, staffRow } from "../support/world/crm.ts";

/**
 * Records that nobody should ever send, by class. Each class says what becomes of its records: quarantine, or the
 * platform holds exactly what stands in them.
 */

export type Row = Record<string, unknown>;
export type HostileStream = "customers" | "orders" | "staff";

/**
 * What the platform has to hold of a record: id and name of a customer; login, name and remark of a person; id, name
 * and nodes of a product.
 */
export type Held = readonly (string | number | null)[];

export interface HostileClass {
  stream: HostileStream;
  formats?: readonly ("ndjson" | "json" | "csv")[];
  /** The record with this number, as values or as JSON text. */
  record: (index: number) => Row | string;
  /** Why it is quarantined, or what the platform holds of it. */
  becomes: { code: string } | { held: (index: number) => Held };
  /** At most so many, where each is large. */
  most?: number;
}

export function customer(id: unknown, name: unknown): Row {
  return { ...customerRow({ id: "" }), id, name };
}

export function order(id: unknown, product: Row): Row {
  return {
    id,
    customer: "HOST",
    asset: `A-${String(id).slice(0, 20)}`,
    product: `P-${String(id).slice(0, 20)}`,
    nodes: 3,
    productName: "Planner",
    ...product,
  };
}

export function person(id: unknown, changes: Row): Row {
  return { ...staffRow({ id: "", customer: "HOST", login: "nobody", name: "Somebody" }), id, ...changes };
}

/** A class of customers whose names take turns. */
function names(texts: readonly string[], formats?: HostileClass["formats"]): HostileClass {
  const name = (index: number): string => `${texts[index % texts.length] ?? ""}${index}`;
  return {
    stream: "customers",
    ...(formats === undefined ? {} : { formats }),
    record: (index) => customer(`X${index}`, name(index)),
    becomes: { held: (index) => [`X${index}`, name(index)] },
  };
}

/** A class of customers whose ids take turns, each with its number behind it. */
function ids(texts: readonly string[], formats?: HostileClass["formats"]): HostileClass {
  const id = (index: number): string =>
    index < texts.length ? (texts[index] ?? "") : `${texts[index % texts.length] ?? ""}${index}`;
  return {
    stream: "customers",
    ...(formats === undefined ? {} : { formats }),
    record: (index) => customer(id(index), `Name ${index}`),
    becomes: { held: (index) => [id(index), `Name ${index}`] },
  };
}

/** A class of customers that cannot be used, as JSON text around a value of the name. */
function badNames(code: string, value: (index: number) => string, more: Partial<HostileClass> = {}): HostileClass {
  return {
    stream: "customers",
    formats: ["ndjson", "json"],
    record: (index) => JSON.stringify(customer(`X${index}`, "@@")).replace('"@@"', value(index)),
    becomes: { code },
    ...more,
  };
}

function badOrders(code: string, product: (index: number) => Row | string): HostileClass {
  return {
    stream: "orders",
    record: (index) => {
      const made = product(index);
      if (typeof made !== "string") return order(`X${index}`, made);
      return JSON.stringify(order(`X${index}`, { nodes: "@@" })).replace('"@@"', made);
    },
    becomes: { code },
  };
}

const bidi = ["\u202Egnp.exe", "\u2066left\u2069", "\u200Fright", "\uFEFFmark", "\u00ADsoft"];
const ansi = [
  "\u001B[31mred\u001B[0m",
  "\u001B]0;title\u0007",
  "\u009B2J",
  "\u001B[2J\u001B[H",
  "\rback",
  "\u0008\u0008",
];
const formulas = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\uFF1D1", '=HYPERLINK("http://evil.example")'];
const inherited = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "then",
  "null",
  "undefined",
];
const paths = [
  "../../etc/passwd",
  "C:\\windows",
  "'; drop table record; --",
  '" or 1=1',
  "crm/C1",
  "order:crm/1",
  "a/b/c",
  "?x=1&y=2",
  "#/0",
  "%2e%2e%00",
  "{id}",
  "${HOME}",
  "$(id)",
  "*",
  "[0]",
  ".",
  "^",
  " x ",
  "0x10",
  "1e3",
  "-0",
  "NaN",
  "true",
];

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const emoji = "😀";
/** Letters and digits that no other record has. */
const tag = (index: number): string => `q${index}z`;

export function hostileClasses(size: { longest: number }): Record<string, HostileClass> {
  const { longest } = size;
  return {
    "names that begin like formulas": names(formulas, ["ndjson", "csv"]),
    "ids that begin like formulas": ids(formulas),
    "names that turn the line round": names(bidi, ["ndjson", "csv"]),
    "ids that turn the line round": ids(bidi),
    "names with escape sequences": names(ansi, ["ndjson", "csv"]),
    "ids with escape sequences and control characters": ids(ansi),
    "ids that every object has already": ids(inherited, ["ndjson", "json", "csv"]),
    "ids that look like paths, SQL, addresses, keys and numbers": ids(paths, ["ndjson", "csv"]),
    "members called __proto__, constructor and prototype": {
      stream: "customers",
      formats: ["ndjson", "json"],
      record: (index) =>
        JSON.stringify(customer(`X${index}`, `Name ${index}`)).replace(
          /\}$/u,
          ',"__proto__":{"name":"polluted","id":"polluted"},"constructor":{"prototype":{"name":"polluted"}},"prototype":1}',
        ),
      becomes: { held: (index) => [`X${index}`, `Name ${index}`] },
    },
    "ids beyond 2^53 as numbers": {
      stream: "customers",
      formats: ["ndjson", "json"],
      record: (index) =>
        JSON.stringify(customer("@@", `Name ${index}`)).replace(
          '"@@"',
          String(9_007_199_254_740_993n + 2n * BigInt(index)),
        ),
      becomes: { held: (index) => [String(9_007_199_254_740_993n + 2n * BigInt(index)), `Name ${index}`] },
    },
    "ids of 200 characters": ids(["i".repeat(190)]),
    "ids of more than 200 characters": {
      stream: "customers",
      record: (index) => customer(`${"i".repeat(200)}${index}`, "Name"),
      becomes: { code: "does-not-fit" },
    },
    [`names of ${longest} characters that a record may have`]: {
      stream: "customers",
      record: (index) => customer(`X${index}`, `${"n".repeat(longest)}${index}`),
      becomes:
        longest < 7_000_000
          ? { held: (index) => [`X${index}`, `${"n".repeat(longest)}${index}`] }
          : { code: "too-large" },
      most: 2,
    },
    "10,000 lists inside each other": badNames("too-deep", () => nested(10_000)),
    "10,000 lists inside each other where nobody looks": badNames(
      "too-deep",
      (index) => `"Name ${index}","ignored":${nested(10_000)}`,
    ),
    "lists of 100,000": badNames("too-wide", () => `[${"1,".repeat(99_999)}1]`, { most: 20 }),
    "objects of 100,000 members": badNames(
      "too-wide",
      () => `{${Array.from({ length: 100_000 }, (_, member) => `"m${member}":1`).join(",")}}`,
      { most: 5 },
    ),
    "a NUL in what is used": badNames("broken-text", (index) => `"a\\u0000b${index}"`),
    "half of a surrogate pair in what is used": badNames("broken-text", (index) => `"a${index}\\ud800"`),
    "a member that stands twice": badNames("duplicate-member", (index) => `"Name ${index}","name":"Other"`),
    "an object instead of a name": badNames("wrong-type", () => '{"toString":"x","length":1e9}'),
    "no name": badNames("missing", () => "null"),
    "one bad member, another one in every record": {
      stream: "customers",
      record: (index) => {
        const made = customer(`X${index}`, `Name ${index}`);
        const names = Object.keys(made).slice(1);
        return { ...made, [names[index % names.length] ?? ""]: { nested: [index] } };
      },
      becomes: { code: "wrong-type" },
    },
    "text that is no JSON": badNames("not-json", () => "NaN", { formats: ["ndjson"] }),
    "no object at all": {
      stream: "customers",
      formats: ["ndjson", "json"],
      record: (index) => String(index),
      becomes: { code: "not-an-object" },
    },

    "names of people of 30 characters of two units each": {
      stream: "staff",
      record: (index) => person(`X${index}`, { login: tag(index), name: emoji.repeat(30) }),
      becomes: { held: (index) => [tag(index), emoji.repeat(30), null] },
    },
    "names of people of 31 characters": {
      stream: "staff",
      record: (index) => person(`X${index}`, { login: tag(index), name: "n".repeat(31) }),
      becomes: { code: "bad-name" },
    },
    "remarks of 200 characters of two units each": {
      stream: "staff",
      record: (index) => person(`X${index}`, { login: tag(index), remark: emoji.repeat(200) }),
      becomes: { held: (index) => [tag(index), "Somebody", emoji.repeat(200)] },
    },
    "remarks of 201 characters": {
      stream: "staff",
      record: (index) => person(`X${index}`, { login: tag(index), remark: emoji.repeat(201) }),
      becomes: { code: "bad-remark" },
    },
    "logins with control characters, marks or letters of other scripts": {
      stream: "staff",
      record: (index) =>
        person(`X${index}`, {
          login: `${tag(index)}${["\u0007", "\u001B[0m", "\u202E", "é", "а", "-", "@", "'"][index % 8] ?? ""}`,
        }),
      becomes: { code: "bad-user-name" },
    },
    "logins as long as they may be": {
      stream: "staff",
      record: (index) => person(`X${index}`, { login: tag(index).padStart(longestLogin, "l") }),
      becomes: { held: (index) => [tag(index).padStart(longestLogin, "l"), "Somebody", null] },
    },
    "logins that are one character longer": {
      stream: "staff",
      record: (index) => person(`X${index}`, { login: tag(index).padStart(longestLogin + 1, "l") }),
      becomes: { code: "bad-user-name" },
    },

    "dates that do not exist": badOrders("not-an-instant", (index) => ({
      placedAt: ["2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2026-01-01T25:00:00Z", "0"][
        index % 5
      ],
    })),
    "dates beyond every calendar": badOrders("not-an-instant", (index) => ({
      placedAt: ["+300000-01-01T00:00:00Z", "-300000-01-01T00:00:00Z", "99999999999999999999", "1e400"][index % 4],
    })),
    "numbers that are too large, or none": badOrders(
      "not-a-whole-number",
      (index) =>
        ["1e400", "9007199254740993", "-1e400", "1.5", '"NaN"', '"Infinity"', '"１２"', '"0x10"', "[3]"][index % 9] ??
        "",
    ),
    "numbers below nought": badOrders("does-not-fit", () => "-1"),
    "products with names and ids of every kind": {
      stream: "orders",
      record: (index) =>
        order(`X${index}`, {
          product: `P${index}${paths[index % paths.length] ?? ""}`,
          productName: `${formulas[index % formulas.length] ?? ""}${bidi[index % bidi.length] ?? ""}${ansi[index % ansi.length] ?? ""}`,
        }),
      becomes: {
        held: (index) => [
          `P${index}${paths[index % paths.length] ?? ""}`,
          `${formulas[index % formulas.length] ?? ""}${bidi[index % bidi.length] ?? ""}${ansi[index % ansi.length] ?? ""}`,
          3,
        ],
      },
    },
  };
}

/** A login and the code of an enterprise, which the configuration takes for 20 characters at most, stay below 63. */
export const longestLogin = 42;
