import { dirname, join, resolve } from "node:path";
import type { JsonObject } from "../base/canonical-json.ts";
import { systemClock } from "../base/clock.ts";
import { Problems } from "../base/errors.ts";
import { systemRandomness } from "../base/ids.ts";
import { loadConfig, type Config } from "../config/config.ts";
import type { Environment, Loaded } from "../config/load.ts";
import { makeLedgerFolder, pathFrom } from "../operate/application.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

export interface ConfigChoice {
  /** Undefined: `$CRM_SYNC_CONFIG`, or crm-sync.yaml. */
  config: string | undefined;
  /** `true`: a sandbox inside the program; a text: the URL of a running one. */
  sandbox: string | true | undefined;
}

export interface Needs {
  services: boolean;
  /** false: read only, no secret is required. */
  secrets?: boolean;
  /** Only this source is read: no other secret and no service setting is required. */
  source?: string;
}

export interface OpenConfig extends Loaded<Config> {
  sandbox: Sandbox | undefined;
}

const defaultFile = "crm-sync.yaml";

export function configFile({ config }: Pick<ConfigChoice, "config">, environment: Environment): string {
  return resolve(config ?? environment["CRM_SYNC_CONFIG"] ?? defaultFile);
}

/** Throws all configuration problems at once. The caller closes the sandbox that it may start. */
export async function openConfig(choice: ConfigChoice, environment: Environment, needs: Needs): Promise<OpenConfig> {
  const path = configFile(choice, environment);
  const load = (sandboxUrl?: string): Loaded<Config> => {
    const loaded = loadConfig({
      path,
      environment,
      profiles: sandboxUrl === undefined ? [] : ["sandbox"],
      options: sandboxUrl === undefined ? [] : [{ name: "--sandbox", settings: sandboxSettings(sandboxUrl) }],
      secretsRequired: needs.source === undefined ? needs.secrets !== false : ["sources", needs.source],
      ...(needs.source === undefined ? {} : { instead: noServices }),
    });
    if (!loaded.ok) throw new Problems(loaded.error);
    return loaded.value;
  };
  if (choice.sandbox !== true) return { ...load(choice.sandbox), sandbox: undefined };
  const first = load("http://127.0.0.1:1");
  if (!needs.services) return { ...first, sandbox: undefined };
  const sandbox = await sandboxBeside(first);
  try {
    return { ...load(sandbox.url), sandbox };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

const noServices = sandboxSettings("http://127.0.0.1:1");

async function sandboxBeside({ config, directory }: Loaded<Config>): Promise<Sandbox> {
  const { startSandbox } = await import("../sandbox/sandbox.ts");
  const ledgerPath = pathFrom(directory, config.ledger.path);
  makeLedgerFolder(ledgerPath, config.ledger.group);
  return await startSandbox({
    store: join(dirname(ledgerPath), "sandbox.db"),
    clock: systemClock,
    random: systemRandomness,
  });
}

/** Overrides the file, so that a real token never goes to a sandbox. */
function sandboxSettings(url: string): JsonObject {
  const base = url.replace(/\/+$/u, "");
  const authorization = { fixed: "sandbox-app-token" };
  return {
    orderService: { baseUrl: base, appKey: "sandbox-app", tokens: { authorization } },
    memberCenter: { baseUrl: base, tokens: { authorization, userToken: { fixed: "sandbox-user-token" } } },
  };
}
