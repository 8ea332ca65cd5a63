import { z } from "zod";
import type { Json } from "../../base/canonical-json.ts";
import { parsePath } from "../mapping/path.ts";
import { addressOf } from "./http-source-settings.ts";
import type { HttpListSettings, SinceSettings } from "./http-source-settings.ts";
import { largestPosition } from "./placement.ts";
import { headerName } from "./request-settings.ts";

interface Checked extends HttpListSettings {
  key?: string | undefined;
  since?: SinceSettings | undefined;
}

interface Issue {
  path: string[];
  message: string;
}

/** What one key of a list of an http source demands of another. */
export function checkList(list: Checked, baseUrl: string | undefined): Issue[] {
  return [
    ...checkAddress(list.url, ["url"], baseUrl),
    ...checkPlaces(list),
    ...checkPaging(list),
    ...checkAnswer(list),
  ];
}

/** Why a text is no address of a service, relative or not. */
function checkAddress(text: string, path: string[], baseUrl: string | undefined): Issue[] {
  let url: URL;
  try {
    url = addressOf(text, baseUrl);
  } catch {
    return [{ path, message: "is no address; expected https://…, or a path together with baseUrl" }];
  }
  if (!/^https?:$/.test(url.protocol)) return [{ path, message: `found ${url.protocol}//…; expected https://…` }];
  if (url.username === "" && url.password === "") return [];
  return [{ path, message: "has a user or password in it; they belong into auth" }];
}

function checkPlaces(list: Checked): Issue[] {
  const { method, parametersIn, since, paging, bodyAs, body } = list;
  const issues: Issue[] = [];
  const noBody = "found body with the method GET, which has none; expected query";
  if (method === "GET" && parametersIn === "body") issues.push({ path: ["parametersIn"], message: noBody });
  if (method === "GET" && since?.in === "body") issues.push({ path: ["since", "in"], message: noBody });
  if (bodyAs === "xml" && typeof body !== "string")
    issues.push({ path: ["body"], message: "expected a text, since `bodyAs` is xml" });
  const named = (parameter: string | undefined, where: string, path: string[]): void => {
    if (parameter === undefined) return;
    const message = bodyAs === "xml" && where === "body" ? notIn(body, parameter) : wrongParameter(parameter, where);
    if (message !== undefined) issues.push({ path, message });
  };
  if ("parameter" in paging) named(paging.parameter, parametersIn, ["paging", "parameter"]);
  if ("sizeParameter" in paging) named(paging.sizeParameter, parametersIn, ["paging", "sizeParameter"]);
  if (since !== undefined)
    for (const parameter of [since.parameter].flat()) named(parameter, since.in, ["since", "parameter"]);
  return issues;
}

/** Why a parameter has no place in an XML body. */
export function notIn(body: Json | undefined, parameter: string): string | undefined {
  if (typeof body === "string" && body.includes(`{${parameter}}`)) return undefined;
  return `has no place in \`body\`, which holds no {${parameter}}`;
}

function wrongParameter(parameter: string, where: string): string | undefined {
  if (where === "header") return z.safeParse(headerName, parameter).success ? undefined : "is no name of a header";
  if (where === "query") return undefined;
  const path = parsePath(parameter);
  if (!path.ok) return path.error;
  if (path.value.up > 0 || path.value.steps.length === 0) return "leads to no place inside the body";
  const beyond = path.value.steps.some((step) => typeof step === "number" && step > largestPosition);
  return beyond ? `has a position beyond ${largestPosition}` : undefined;
}

function checkPaging({ paging, key }: Checked): Issue[] {
  const issues: Issue[] = [];
  if (paging.kind === "keyset" && paging.key === undefined && key === undefined) {
    const message = "missing; paging by keys needs the field of the key, here or as `key` of the stream";
    issues.push({ path: ["paging", "key"], message });
  }
  return issues;
}

function checkAnswer({ answer, records, total, paging, single }: Checked): Issue[] {
  const issues: Issue[] = [];
  if (answer === "xml" && records === undefined)
    issues.push({ path: ["records"], message: "missing; in XML it is the path of the elements that are records" });
  if ((answer === "csv" || answer === "ndjson") && records !== undefined)
    issues.push({ path: ["records"], message: `found with the answer ${answer}, all of which is records` });
  if (single && answer !== "json")
    issues.push({ path: ["single"], message: `found with the answer ${answer}; it is for json` });
  if (single && paging.kind !== "none")
    issues.push({ path: ["single"], message: "found with `paging`, which is for a list" });
  const isRows = answer === "csv" || answer === "ndjson";
  const inside = [
    ["total", total],
    ["paging", "next" in paging ? paging.next : undefined],
    ["paging", "hasMore" in paging ? paging.hasMore : undefined],
  ] satisfies [string, Json | undefined][];
  for (const [name = "", path] of inside)
    if (isRows && path !== undefined)
      issues.push({ path: [name], message: `found a path with the answer ${answer}, which holds records only` });
  return issues;
}

/** What the log-in of a source demands of its lists. */
export function checkSession(
  auth: { kind: string; put?: { in: string; parameter: string }[]; login?: { url: string } },
  lists: readonly { path: string[]; method: string; bodyAs: string; body?: Json | undefined }[],
  baseUrl: string | undefined,
): Issue[] {
  if (auth.kind !== "session") return [];
  const inBody = (auth.put ?? []).filter((put) => put.in === "body");
  const message = "found GET, which has no body; `auth.put` puts the session into one";
  return [
    ...checkAddress(auth.login?.url ?? "", ["auth", "login", "url"], baseUrl),
    ...lists.flatMap(({ path, method, bodyAs, body }): Issue[] => {
      if (inBody.length > 0 && method === "GET") return [{ path: [...path, "method"], message }];
      if (bodyAs !== "xml") return [];
      return inBody.flatMap(({ parameter }) => {
        const missing = notIn(body, parameter);
        return missing === undefined
          ? []
          : [{ path: [...path, "body"], message: `\`auth.put\`: ${parameter} ${missing}` }];
      });
    }),
  ];
}
