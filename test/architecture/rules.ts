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
function withoutComments(text: string): string {
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
 * `model` is `src/engine/model` and `src/engine/plan`: what the engine works with, which the ledger names too. `run` is
 * `src/engine/run`.
 */
const levels: Record<string, number> = {
  base: 0,
  crm: 1,
  contract: 1,
  http: 2,
  report: 2,
  source: 3,
  platform: 3,
  model: 4,
  ledger: 6,
  engine: 7,
  resources: 8,
  inquiry: 9,
  ingest: 9,
  run: 10,
  operate: 11,
  books: 12,
  recovery: 13,
  requests: 14,
  setup: 14,
  app: 15,
  cli: 16,
  web: 16,
};

/** Who may name a resource. Everybody else, the engine too, has what `app` hands in. */
const mayNameResources = new Set(["inquiry", "recovery", "requests", "setup", "app"]);
/** In this order: a resource imports the index of those before it. */
const resources = ["enterprise", "order", "staff", "assignment", "lock", "loan"];

/** What a room may import besides the rooms to its left. */
const permitted: Record<string, (target: string, path: string) => boolean> = {
  // The configuration is composed of the settings that every room exports, and resolves secrets by the one rule for
  // them.
  config: (target, path) =>
    target === "base" ||
    target === "crm" ||
    /^src\/[a-z]+(?:\/[a-z]+)?\/[a-z]+-settings\.ts$/u.test(path) ||
    path === "src/http/secrets.ts",
  main: () => true,
  sandbox: (target) => target === "base",
};

const mayReadConfig = new Set(["main", "app", "setup", "cli", "web"]);
/** They name the settings that `app` hands them. */
const mayNameSettings = new Set(["operate"]);
/** They parse, ask and print; the work is done by the rooms of commands, with what `app` opens. */
const faces = new Set(["cli", "web"]);
/** Only the rooms of commands work with them. */
const roomsOfWork = new Set(["http", "source", "platform", "ledger", "ingest", "inquiry", "engine", "run"]);
const mayStartSandbox = new Set(["main", "app", "cli"]);

const pureRooms = [
  "src/engine/model/",
  "src/engine/plan/",
  "src/crm/",
  "src/contract/",
  "src/report/",
  "src/source/mapping/",
];
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
const sql = /^(?:better-sqlite3|kysely(?:\/.*)?|pg)$/u;
const sqlRooms = ["src/ledger/", "src/resources/", "src/inquiry/", "src/sandbox/", "src/source/sql/", "migrations/"];

/** Every breach of the rules of ARCHITECTURE.md, as `file:line: what`. */
export function breaches(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const found = importsOf(text).flatMap((one) =>
      importBreaches(path, one).map((what) => `${path}:${one.line}: ${what}`),
    );
    if (!pureRooms.some((room) => path.startsWith(room))) return found;
    const code = withoutComments(text);
    for (const [pattern, what] of clock)
      for (const match of code.matchAll(new RegExp(pattern.source, "gu")))
        found.push(`${path}:${code.slice(0, match.index).split("\n").length}: a pure room reads ${what}`);
    return found;
  });
}

function importBreaches(path: string, one: ImportFound): string[] {
  const room = roomOf(path);
  const own = resolveOwn(path, one.specifier);
  const found = own === undefined ? [] : roomBreaches(path, room, roomOf(own), own, one);
  const namesTypes = room === "model" && one.typeOnly;
  const isPure = pureRooms.some((pure) => path.startsWith(pure));
  if (own === undefined && isPure && inputOutput.test(one.specifier) && !namesTypes)
    found.push(`a pure room imports ${one.specifier}`);
  if (
    path.startsWith("src/") &&
    sql.test(one.specifier) &&
    !namesTypes &&
    !sqlRooms.some((allowed) => path.startsWith(allowed))
  )
    found.push(`imports ${one.specifier}; SQL belongs to ledger, inquiry, sandbox and source/sql`);
  if (room === "jobs" && !one.typeOnly) found.push(`a job imports ${one.specifier} as more than a type`);
  return found;
}

function roomBreaches(path: string, room: string, target: string, own: string, one: ImportFound): string[] {
  if (room === "resources" && target === "resources") return resourceBreaches(path, own);
  if (room === target) return [];
  const what = `${room} imports ${target} (${one.specifier})`;
  if (room === "migrations") return [what];
  if (room === "jobs") return target === "operate" || target === "crm" ? [] : [what];
  // What was handed in can be asked for from everywhere above crm and contract.
  if (own === "src/engine/model/registry.ts" && (levels[room] ?? 0) > 1) return [];
  // What the engine works with names no resource, and of the rooms that it serves only types.
  if (room === "model" && one.typeOnly && (levels[target] ?? Infinity) < (levels["resources"] ?? 0)) return [];
  const rule = permitted[room];
  if (rule !== undefined) return rule(target, own) ? [] : [what];
  if (target === "resources") return mayNameResources.has(room) ? [] : [what];
  if (target === "config") return mayReadConfig.has(room) || (mayNameSettings.has(room) && one.typeOnly) ? [] : [what];
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

function resourceBreaches(path: string, own: string): string[] {
  const [from, to] = [path, own].map((file) => file.split("/")[2] ?? "");
  if (from === to) return [];
  if (resources.indexOf(to ?? "") < resources.indexOf(from ?? "") && own === `src/resources/${to}/index.ts`) return [];
  return [`the resource ${from} imports ${own.slice("src/resources/".length)}`];
}

function roomOf(path: string): string {
  const parts = path.split("/");
  if (parts[0] !== "src") return parts[0] ?? "";
  if (parts.length === 2) return (parts[1] ?? "").replace(/\.ts$/u, "");
  if (parts[1] !== "engine" || parts.length === 3) return parts[1] ?? "";
  return parts[2] === "run" ? "run" : "model";
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
