import { parse } from "yaml";

/** One setting that an example shows, in effect or commented out (`#key: value`, without a space after the #). */
export interface ShownSetting {
  /** Dotted. */
  key: string;
  line: number;
  commentedOut: boolean;
  /** Whether a comment stands above it, or around it for what stands on the line of another key. */
  explained: boolean;
  /** What stands behind the colon, read as YAML; undefined where a map begins. */
  value: unknown;
}

interface OutlineLine {
  indent: number;
  key: string;
  rest: string;
  commentedOut: boolean;
}

/** A setting or a setting that is commented out; prose has a single space after its #. */
function settingOf(text: string): OutlineLine | undefined {
  const parts = /^( *)(#?)((?: {2})*)((?:- )?)("[^"]+"|[A-Za-z0-9][\w-]*):(?: (.*))?$/.exec(text);
  if (parts === null) return undefined;
  const [, before = "", mark = "", after = "", dash = "", key = "", rest = ""] = parts;
  return {
    indent: before.length + after.length + dash.length,
    key: key.replaceAll('"', ""),
    rest,
    commentedOut: mark === "#",
  };
}

/** Every setting of an example, in the order of the file. */
export function outlineOf(text: string): ShownSetting[] {
  const shown: ShownSetting[] = [];
  const open: OutlineLine[] = [];
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const setting = settingOf(line);
    if (setting === undefined) continue;
    while ((open.at(-1)?.indent ?? -1) >= setting.indent) open.pop();
    open.push(setting);
    const key = open.map((one) => one.key).join(".");
    const place = { line: index + 1, commentedOut: setting.commentedOut };
    const above = lines[index - 1] ?? "";
    const explained = settingOf(above) === undefined && /^ *#(?: {2})*#? \S/.test(above);
    const value: unknown = setting.rest === "" ? undefined : parse(setting.rest);
    shown.push({ ...place, key, explained, value });
    addInline(value, key, (inner, innerValue) =>
      shown.push({ ...place, key: inner, explained: true, value: innerValue }),
    );
  }
  return shown;
}

/** Keys of a map that stands on one line. */
function addInline(value: unknown, key: string, add: (key: string, value: unknown) => void): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    add(`${key}.${name}`, inner);
    addInline(inner, `${key}.${name}`, add);
  }
}

/**
 * One name for settings that are the same thing in several places: a token of any header, a set of files, the limits of
 * a job, a stream. Names that one gives oneself become `*`. Undefined for what lies below a map of free keys.
 */
export function sameSetting(key: string): string | undefined {
  const name = key
    .replaceAll(/<\w+>|\[\]/g, "")
    .replace(/^(sources|jobs)\.[^.]+/, "$1.*")
    .replace(/\.(tables|details|userTokens|take|auth\.secrets)\.[^.]+/, ".$1.*")
    .replace(/\.streams\.(?:customers|orders|staff)\b/, ".streams.*")
    // Lists of details, and those that a chain begins with, have the settings of a list.
    .replace(/\.streams\.\*\.(?:details\.\*|each\.of)\.(?!rowKey|required)/, ".streams.*.")
    // So have look-up tables that are lists.
    .replace(
      /\.tables\.\*\.(?=(?:url|method|query|headers|body\w*|parametersIn|total\w*|countHeader|nothing|single|answer|encoding|xml|errors|paging|maxPages)\b)/,
      ".streams.*.",
    );
  if (
    /\.(?:mapping|skip|roles|inline|columns|group\.fields|query|headers|body|parameters|byLicenseType|timeUnits|money)\./.test(
      name,
    )
  )
    return undefined;
  return name
    .replace(/^\w+\.tokens\.(?:authorization|clientToken|userToken|userTokens\.\*)\./, "token.")
    .replace(/^jobs\.\*\.limits\b/, "limits")
    .replace(
      /^sources\.\*\.(?:streams\.\*|tables\.\*|streams\.\*\.details\.\*)\.(files|format|gzip|encoding|csv|xlsx|records|completeWhen)\b/,
      "files.$1",
    );
}
