import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import { readSecret, SecretFailure } from "../../http/secrets.ts";
import type { Person } from "./person.ts";

/** The folder beside the configuration that typed secrets are kept in, each in a file of its own. */
const secretsFolder = "secrets";

/** Secrets that a person types, until they are written: the configuration holds where they are, and never what. */
export class TypedSecrets {
  readonly #folder: string;
  readonly #environment: Environment;
  readonly #files = new Map<string, string>();

  constructor(folder: string, environment: Environment) {
    this.#folder = join(folder, secretsFolder);
    this.#environment = environment;
  }

  /** What is to be written, by path. */
  get files(): ReadonlyMap<string, string> {
    return this.#files;
  }

  /** Keeps a secret for writing and answers its reference. A file that is there is left alone. */
  keep(name: string, value: string): string {
    let path = join(this.#folder, name);
    for (let number = 2; existsSync(path) || this.#files.has(path); number += 1)
      path = join(this.#folder, `${name}-${number}`);
    this.#files.set(path, value);
    return `file:${path}`;
  }

  /** The secret behind a reference, also where it is not written yet. Throws a SecretFailure where there is none. */
  reveal(reference: string): string {
    const kept = reference.startsWith("file:") ? this.#files.get(reference.slice("file:".length)) : undefined;
    return kept ?? readSecret(reference, { environment: this.#environment });
  }

  /** Asks where a secret is, or for the secret itself. Answers its reference. */
  async ask(person: Person, id: string, what: string, name: string): Promise<string> {
    const reference = await person.ask({
      id,
      text:
        `${what}: env:NAME or file:/path where it is, or \`type\` to have it kept ` +
        `in ${this.#folder}/${name} (0600)`,
      usual: undefined,
      refusal: (answer) => (answer === "type" ? undefined : this.#refusal(answer)),
    });
    if (reference !== "type") return reference;
    return this.keep(name, await person.ask({ id: `${id}.value`, text: what, hidden: true }));
  }

  /** A secret that is not there yet is no reason to ask again: it may be set where the program will run. */
  #refusal(reference: string): string | undefined {
    try {
      this.reveal(reference);
      return undefined;
    } catch (error) {
      const isMissing = error instanceof SecretFailure && error.place === "env" && error.state === "is not set";
      if (isMissing) return undefined;
      return `${messageOf(error)}; write env:NAME or file:/absolute/path`;
    }
  }
}
