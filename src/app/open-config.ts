import { dirname, join, resolve } from "node:path";
import type { JsonObject } from "../base/canonical-json.ts";
import { systemClock } from "../base/clock.ts";
import { Problems } from "../base/errors.ts";
import { systemRandomness } from "../base/ids.ts";
import { loadConfig, type Config } from "../config/config.ts";
import type { Environment, Loaded } from "../config/load.ts";
import { makeLedgerFolder, pathFrom } from "../operate/application.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** Which configuration a person asks for. */
export interface ConfigChoice {
  /** The file; undefined: `$CRM_SYNC_CONFIG`, or crm-sync.yaml. */
  config: string | undefined;
  /** `true`: a sandbox inside the program; a text: the URL of one that runs. */
  sandbox: string | true | undefined;
}

/** What is needed besides the configuration itself. */
export interface Needs {
  /** Whether the services are talked to, so that a sandbox has to run. */
  services: boolean;
  /** false: it only reads, so no secret has to be there. */
  secrets?: boolean;
  /** The one source that is read, and nothing else: no other secret has to be there, and no setting of the services. */
  source?: string;
}

/** A configuration in effect, and the sandbox inside the program that it speaks to, if there is one. */
export interface OpenConfig extends Loaded<Config> {
  sandbox: Sandbox | undefined;
}

const defaultFile = "crm-sync.yaml";

/** The configuration file that a person means. */
export function configFile({ config }: Pick<ConfigChoice, "config">, environment: Environment): string {
  return resolve(config ?? environment["CRM_SYNC_CONFIG"] ?? defaultFile);
}

/**
 * Loads the configuration; throws all its problems at once. Where it asks for a sandbox without a URL, one is started
 * whose state lies beside the ledger; whoever asked closes it.
 */
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

/** What stands in place of services that nobody talks to. */
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

/**
 * The addresses and the fixed tokens of a sandbox. They lie over the file, so that a real token never goes to a
 * sandbox.
 */
function sandboxSettings(url: string): JsonObject {
  const base = url.replace(/\/+$/u, "");
  const authorization = { fixed: "sandbox-app-token" };
  return {
    orderService: { baseUrl: base, appKey: "sandbox-app", tokens: { authorization } },
    memberCenter: { baseUrl: base, tokens: { authorization, userToken: { fixed: "sandbox-user-token" } } },
  };
}
