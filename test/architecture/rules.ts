import { kinds } from "../../src/operation/registry.ts";

/** One source file: its path from the project root and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

export interface ImportFound {
  specifier: string;
  typeOnly: boolean;
  line: number;
}

/**
 * Text without comments, strings and regular expressions kept as they are; line ends stay, so that lines can be
 * counted.
 */
export function withoutComments(text: string): string {
  const pattern =
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[=(,:[!&|?{};\n]\s*)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*)|\/\/[^\n]*|\/\*[\s\S]*?\*\//gu;
  return text.replaceAll(pattern, (whole, kept: string | undefined) => kept ?? whole.replaceAll(/[^\n]/gu, " "));
}

/** Every static import, re-export and dynamic import of a file. */
export function importsOf(text: string): ImportFound[] {
  const code = withoutComments(text);
  const found: ImportFound[] = [];
  const patterns: [RegExp, (match: RegExpMatchArray) => boolean][] = [
    [/^[ \t]*import\s+(type\s+)?(?:[\w$*{}\s,]+?\s+from\s+)?["']([^"'\n]+)["']/gmu, (match) => match[1] !== undefined],
    [
      /^[ \t]*export\s+(type\s+)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})\s+from\s+["']([^"'\n]+)["']/gmu,
      (match) => match[1] !== undefined,
    ],
    [/\b(import)\s*\(\s*["'`]([^"'`\n]+)["'`]\s*[),]/gu, () => false],
    [/\b(require)\s*\(\s*["'`]([^"'`\n]+)["'`]\s*\)/gu, () => false],
  ];
  for (const [pattern, typeOnly] of patterns) {
    for (const match of code.matchAll(pattern)) {
      const line = code.slice(0, match.index + match[0].length).split("\n").length;
      found.push({ specifier: match[2] ?? "", typeOnly: typeOnly(match), line });
    }
  }
  return found.sort((a, b) => a.line - b.line);
}

/**
 * The rooms from left to right. A room imports from rooms of a lower level, never from one of its own level or above.
 */
const levels: Record<string, number> = {
  base: 0,
  crm: 1,
  contract: 1,
  http: 2,
  report: 2,
  source: 3,
  platform: 3,
  operation: 4,
  plan: 5,
  ledger: 6,
  inquiry: 7,
  apply: 7,
  run: 8,
  app: 9,
  cli: 10,
  web: 10,
};

/** What a room may import besides the rooms to its left. */
const permitted: Record<string, (target: string, path: string) => boolean> = {
  // The configuration is composed of the settings that every room exports, and resolves secrets by the one rule for
  // them.
  config: (target, path) =>
    target === "base" ||
    target === "crm" ||
    /^src\/[a-z]+\/[a-z]+-settings\.ts$/u.test(path) ||
    path === "src/http/secrets.ts",
  main: () => true,
  sandbox: (target) => target === "base",
};

const mayReadConfig = new Set(["main", "app", "cli", "web"]);
/** They parse, ask and print; the work is done by what app hands them. */
const faces = new Set(["cli", "web"]);
const roomsOfWork = new Set(["http", "source", "platform", "ledger", "inquiry", "apply", "run"]);
const mayStartSandbox = new Set(["main", "app", "cli"]);

const pureRooms = ["src/operation/", "src/plan/", "src/crm/", "src/contract/", "src/report/", "src/source/mapping/"];
/** Rooms that do I/O; a pure room names their types at most. */
const roomsOfCalls = new Set(["http", "source", "platform"]);
const inputOutput =
  /^(?:node:(?:fs|net|http|https|http2|tls|dgram|dns|child_process|worker_threads|cluster|timers|process|os|readline|sqlite)(?:\/.*)?|undici|better-sqlite3|kysely(?:\/.*)?|pino|node-cron)$/u;
const clock: [RegExp, string][] = [
  [/\bDate\.now\b/u, "Date.now"],
  [/\bnew Date\(\s*\)/u, "new Date()"],
  [/(?<![.\w])Date\(\s*\)/u, "Date()"],
  [/\bperformance\.(?:now|timeOrigin)\b/u, "performance.now"],
  [/\bTemporal\.Now\b/u, "Temporal.Now"],
  [/(?<![.\w])set(?:Timeout|Interval|Immediate)\b/u, "timers"],
  [/\bMath\.random\b/u, "Math.random"],
  [/\brandom(?:Bytes|UUID|UUIDv7|Int|FillSync)\b/u, "randomness"],
  [/\bprocess\.(?:env|hrtime|argv|cwd)\b/u, "process.env"],
];
const sql = /^(?:better-sqlite3|kysely(?:\/.*)?|pg|mysql2(?:\/.*)?)$/u;
const sqlRooms = ["src/ledger/", "src/inquiry/", "src/sandbox/", "src/source/sql/", "migrations/"];
const vagueNames = /(?:Manager|Helper|Util)s?(?![a-z])/u;
const vagueFile = /(?:^|[-_.])(?:manager|helper|util)s?(?=[-_.]|$)/iu;

/** Files above 400 lines, each with the reason why it is better whole. */
export type LongFiles = Readonly<Record<string, string>>;

const kind = `["'\`](?:${Object.keys(kinds).join("|")})["'\`]`;

/**
 * What a kind of operation is stands in its own file: elsewhere it may be made by its planning rule, and by the pool,
 * and never be compared with.
 */
function kindNames(room: string): { pattern: RegExp; what: string }[] {
  const compared = {
    pattern: new RegExp(`(?:[=!]==\\s*|case\\s+)${kind}`, "u"),
    what: "compares the kind of an operation; ask the registry",
  };
  const found = knowsEndpoints.has(room) ? [compared] : [compared, endpointCompared];
  if (room === "plan" || room === "apply") return found;
  return [...found, { pattern: new RegExp(kind, "u"), what: "names a kind of operation; ask the registry" }];
}

/** Rooms that speak the contract's language: they are about endpoints, whatever kind calls them. */
const knowsEndpoints = new Set(["base", "contract", "http", "platform", "sandbox"]);
/** A setting may have the name of an endpoint as its value. */
const endpointCompared = {
  pattern: /(?<!enterpriseCreation )(?:[=!]==\s*|case\s+)["'`][EM]\d{1,2}["'`]|\bendpoint\.startsWith\(/u,
  what: "compares the endpoint of an operation; ask the registry",
};

/** Every breach of the rules of design.md, as `file:line: what`. */
export function breaches(files: readonly SourceFile[], longFiles: LongFiles = {}): string[] {
  return files.flatMap((file) => breachesOf(file, longFiles));
}

function breachesOf(file: SourceFile, longFiles: LongFiles): string[] {
  const found: string[] = [];
  const code = withoutComments(file.text);
  const report = (line: number, what: string): number => found.push(`${file.path}:${line}: ${what}`);
  const imports = importsOf(file.text);

  const room = roomOf(file.path);
  for (const one of imports) {
    for (const what of importBreaches(file.path, one)) report(one.line, what);
  }
  if (pureRooms.some((room) => file.path.startsWith(room))) {
    eachMatch(code, clock, (line, what) => report(line, `a pure room reads ${what}`));
  }
  if (/^(?:src|jobs|migrations)\//u.test(file.path)) {
    const ownFetch =
      imports.some((one) => one.specifier === "undici") || /\b(?:function|const|let)\s+fetch\b|\bfetch\s*:/u.test(code);
    if (!ownFetch) {
      eachMatch(code, [[/(?<![.\w"'`])fetch\s*\(/u, "fetch"]], (line) =>
        report(line, "global fetch; import request from undici"),
      );
    }
    eachMatch(code, [[/\bglobalThis\.fetch\b/u, "fetch"]], (line) =>
      report(line, "global fetch; import request from undici"),
    );
    for (const match of code.matchAll(
      /^export\s+(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:class|function\*?|const|let|interface|type)\s+([\w$]+)/gmu,
    )) {
      if (vagueNames.test(match[1] ?? ""))
        report(lineAt(code, match.index), `the name ${match[1]} says nothing; use a word of the field`);
    }
  }
  if (file.path.startsWith("src/") && room !== "operation") {
    for (const { pattern, what } of kindNames(room))
      eachMatch(code, [[pattern, what]], (line, found) => report(line, found));
  }
  const base = file.path.split("/").at(-1) ?? "";
  if (vagueFile.test(base.replace(/\.(?:test\.)?ts$/u, "")))
    report(1, "the name of the file says nothing; use a word of the field");
  for (const [index, line] of file.text.split("\n").entries())
    if (line.length > 120 && /^\s*(?:\/\*\*|\*|\/\/) /u.test(line) && !line.includes("oxlint-disable"))
      report(index + 1, "a comment beyond 120 columns");
  if (room === "inquiry")
    eachMatch(code, [[/\b(?:insertInto|updateTable|deleteFrom|replaceInto)\b/u, "writes"]], (line) =>
      report(line, "inquiry only reads; what is written belongs to ledger"),
    );
  if (file.path.startsWith("src/")) {
    const lines = file.text.split("\n").length - 1;
    const reason = longFiles[file.path];
    if (lines > 400 && (reason ?? "") === "") report(lines, `${lines} lines, above 400 without a reason`);
  }
  return found;
}

function importBreaches(path: string, one: ImportFound): string[] {
  const room = roomOf(path);
  const found: string[] = [];
  const own = resolveOwn(path, one.specifier);
  if (own !== undefined) {
    if (!one.specifier.endsWith(".ts") && !one.specifier.endsWith(".json"))
      found.push(`imports ${one.specifier} without its ending`);
    found.push(...roomBreaches(path, room, roomOf(own), own, one));
  } else {
    if (
      /^(?:fs|path|http|https|net|os|crypto|url|util|stream|zlib|child_process|events|timers)(?:\/|$)/u.test(
        one.specifier,
      )
    ) {
      found.push(`imports ${one.specifier} without node:`);
    }
    if (pureRooms.some((pure) => path.startsWith(pure)) && inputOutput.test(one.specifier))
      found.push(`a pure room imports ${one.specifier}`);
    if (path.startsWith("src/") && sql.test(one.specifier) && !sqlRooms.some((allowed) => path.startsWith(allowed))) {
      found.push(`imports ${one.specifier}; SQL belongs to ledger, inquiry, sandbox and source/sql`);
    }
    if (room === "migrations" && !/^(?:kysely(?:\/.*)?|node:crypto)$/u.test(one.specifier))
      found.push(`a migration imports ${one.specifier}`);
  }
  if (room === "jobs" && !one.typeOnly) found.push(`a job imports ${one.specifier} as more than a type`);
  return found;
}

function roomBreaches(path: string, room: string, target: string, own: string, one: ImportFound): string[] {
  if (room === "test" || room === "bench" || room === "demo" || room === "docs" || room === "build" || room === target)
    return [];
  const what = `${room} imports ${target} (${one.specifier})`;
  if (room === "migrations") return [what];
  if (room === "jobs") return target === "run" || target === "crm" ? [] : [what];
  const rule = permitted[room];
  if (rule !== undefined) return rule(target, own) ? [] : [what];
  if (target === "config") return mayReadConfig.has(room) ? [] : [what];
  if (target === "sandbox") return mayStartSandbox.has(room) ? [] : [what];
  if (target === "jobs") return room === "app" ? [] : [what];
  if (target === "migrations") return room === "ledger" ? [] : [what];
  const here = levels[room];
  const there = levels[target];
  if (here === undefined) return [`${path} lies in no known room`];
  if (there === undefined || there >= here) return [what];
  const isPure = pureRooms.some((pure) => path.startsWith(pure));
  if (isPure && roomsOfCalls.has(target) && !one.typeOnly) return [`${what} as more than a type`];
  if (faces.has(room) && roomsOfWork.has(target) && !one.typeOnly) return [`${what} as more than a type`];
  return [];
}

function roomOf(path: string): string {
  const parts = path.split("/");
  if (parts[0] !== "src") return parts[0] ?? "";
  if (parts.length === 2) return (parts[1] ?? "").replace(/\.ts$/u, "");
  return parts[1] ?? "";
}

function resolveOwn(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const parts = path.split("/").slice(0, -1);
  for (const step of specifier.split("/")) {
    if (step === "..") parts.pop();
    else if (step !== ".") parts.push(step);
  }
  return parts.join("/");
}

function eachMatch(code: string, patterns: [RegExp, string][], report: (line: number, what: string) => void): void {
  for (const [pattern, what] of patterns) {
    for (const match of code.matchAll(new RegExp(pattern.source, `${pattern.flags}g`)))
      report(lineAt(code, match.index), what);
  }
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** Circles among files, each named once, be it that they import types alone. */
export function circles(files: readonly SourceFile[]): string[] {
  const next = new Map<string, string[]>();
  const known = new Set(files.map((file) => file.path));
  for (const file of files) {
    const targets = importsOf(file.text)
      .map((one) => resolveOwn(file.path, one.specifier))
      .filter((target) => target !== undefined && known.has(target));
    next.set(
      file.path,
      targets.filter((target) => target !== undefined),
    );
  }
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, above: string[]): void => {
    const start = above.indexOf(path);
    if (start >= 0) {
      found.push([...above.slice(start), path].join(" → "));
      return;
    }
    if (done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...above, path]);
    done.add(path);
  };
  for (const path of [...next.keys()].sort()) visit(path, []);
  return found;
}
