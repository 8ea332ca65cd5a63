import { parse } from "yaml";
import { toJson } from "../../base/canonical-json.ts";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { isPlainHttp } from "../../base/loopback.ts";
import { assumptionSettingsSchema } from "../../contract/assumption-settings.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { missingAssumptions } from "../../contract/assumptions/missing.ts";
import type { MissingAssumption } from "../../contract/assumptions/missing.ts";
import { rows } from "../../contract/assumptions/registry.ts";
import { used } from "../check.ts";
import type { Person } from "./person.ts";
import type { TypedSecrets } from "./typed-secrets.ts";

/** Asks for the two services: where they are, and what proves who we are. */
export async function askForServices(person: Person, secrets: TypedSecrets): Promise<JsonObject> {
  const ask = (id: string, text: string) => person.ask({ id, text, refusal: emptyRefusal });
  const address = (id: string, text: string) => person.ask({ id, text, refusal: addressRefusal });
  const orders = await address("orderService.baseUrl", "Address of the order service, without /order/api/order/v1");
  const appKey = await ask("orderService.appKey", "Application key");
  const members = await address("memberCenter.baseUrl", "Address of the member-center, without /me/api/v1");
  const tokenUrl = await address("tokenUrl", "Address of the token endpoint of the user center");
  const orderSecret = await secrets.ask(
    person,
    "orderSecret",
    "Secret of the application (auth_order)",
    "order-secret",
  );
  const memberSecret = await secrets.ask(
    person,
    "memberSecret",
    "Secret of the application (auth_me)",
    "member-secret",
  );
  const username = await ask("userName", "Account that may see the enterprises (userToken)");
  const password = await secrets.ask(person, "userPassword", "Its password", "user-password");
  const oauth2 = (scope: string, clientSecret: string): JsonObject => ({
    oauth2: { tokenUrl, grant: "client_credentials", clientId: appKey, clientSecret, scope },
  });
  return {
    orderService: { baseUrl: orders, appKey, tokens: { authorization: oauth2("auth_order", orderSecret) } },
    memberCenter: {
      baseUrl: members,
      tokens: {
        authorization: oauth2("auth_me", memberSecret),
        userToken: {
          oauth2: { tokenUrl, grant: "password", clientId: appKey, clientSecret: memberSecret, username, password },
        },
      },
    },
  };
}

function emptyRefusal(answer: string): string | undefined {
  return answer === "" ? "it is needed" : undefined;
}

function addressRefusal(answer: string): string | undefined {
  if (!/^https?:\/\//iu.test(answer) || !URL.canParse(answer)) return "it is no address; write https://HOST";
  const { username, password } = new URL(answer);
  if (username !== "" || password !== "") return "an address holds no user and no password";
  return isPlainHttp(answer) ? "tokens go there, so that it has to begin with https://" : undefined;
}

/** Asks what has no safe default. What is left open blocks what needs it, and nothing else. */
export async function askForAssumptions(person: Person): Promise<JsonObject> {
  const settings: JsonObject = {};
  const asked = new Set<string>();
  person.tell(
    "\nWhat the contracts leave open and nobody can guess (docs/assumptions.md). Enter leaves one open: what needs " +
      "it is blocked until then, and nothing else.",
  );
  for (;;) {
    const known = assumptionSettingsSchema.parse(settings);
    const next = missing(known).find(({ key }) => !asked.has(key));
    if (next === undefined) return settings;
    asked.add(next.key);
    const question = rows.list.find(({ id }) => id === next.row)?.question ?? "";
    const answer = await person.ask({
      id: `assumptions.${next.key}`,
      text: `${next.key} (${next.row}): ${question}\n  ${next.choices.join(" or ")}`,
      usual: "",
      refusal: (said) => {
        if (said === "" || valueOf(settings, next.key, said) !== undefined) return undefined;
        return `${next.key} takes ${next.choices.join(" or ")}`;
      },
    });
    const value = answer === "" ? undefined : valueOf(settings, next.key, answer);
    if (value !== undefined) put(settings, next.key, value);
  }
}

function missing(known: AssumptionSettings): MissingAssumption[] {
  return used.flatMap((endpoint) => missingAssumptions(known, endpoint));
}

/** What was said, as a setting: as text where text may stand there, so that `0012` stays `0012`; else as YAML. */
function valueOf(settings: JsonObject, key: string, said: string): Json | undefined {
  for (const value of [said, fromYaml(said)]) {
    if (value === undefined) continue;
    const tried = structuredClone(settings);
    put(tried, key, value);
    if (assumptionSettingsSchema.safeParse(tried).success) return value;
  }
  return undefined;
}

function fromYaml(said: string): Json | undefined {
  try {
    return toJson(parse(said, { maxAliasCount: 0, uniqueKeys: true }));
  } catch {
    return undefined;
  }
}

function put(settings: JsonObject, key: string, value: Json): void {
  const [first = "", ...rest] = key.split(".");
  if (rest.length === 0) {
    settings[first] = value;
    return;
  }
  const inner = settings[first];
  const next: JsonObject = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : {};
  settings[first] = next;
  put(next, rest.join("."), value);
}

/** Asks how people are told when something needs them. */
export async function askForAlerts(person: Person, secrets: TypedSecrets): Promise<JsonObject> {
  const choices = [
    { word: "log", means: "a line in the log" },
    { word: "command", means: "a program that gets the alert" },
    { word: "webhook", means: "an HTTP POST" },
    { word: "none", means: "nobody is told" },
  ];
  const kind = await person.ask({
    id: "alerts",
    text: "How are you told when something needs you?",
    usual: "log",
    choices,
  });
  if (kind === "command") {
    const program = await person.ask({
      id: "alerts.command",
      text: "Program that gets the alert as JSON on its standard input (arguments can be added in the file)",
      refusal: (said) => (said.startsWith("/") ? undefined : "write its whole path"),
    });
    return { kind, command: [program] };
  }
  if (kind !== "webhook") return { kind };
  const url = await person.ask({
    id: "alerts.url",
    text: "Address that alerts are posted to",
    refusal: addressRefusal,
  });
  const hasToken = await person.ask({
    id: "alerts.log-in",
    text: "Does it want a bearer token?",
    usual: "no",
    choices: [
      { word: "yes", means: "" },
      { word: "no", means: "" },
    ],
  });
  if (hasToken === "no") return { kind, url };
  return { kind, url, token: await secrets.ask(person, "alerts.token", "Bearer token of that address", "alert-token") };
}
