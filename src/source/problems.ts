import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { UnfitFile } from "../base/regular-file.ts";
import { credentialOf } from "../http/secrets.ts";

export type SourceProblemCode = `source.${string}`;

/** The file does not match its marker or trailer. None of its rows is used. */
export const notAsMarked = "source.not-as-marked" satisfies SourceProblemCode;

/** The source was not read completely. Other sources continue; the run ends with exit code 7. */
export function sourceProblem(
  code: SourceProblemCode,
  place: string,
  message: string,
  cure: string,
  cause?: unknown,
): Problem {
  return new Problem({ code, message, cure, place, cause, exitCode: exitCodes.sourceDown });
}

/** Throws a Problem if the secret is missing. `place`: where it is missing; default: the source. */
export async function secretOf(
  ref: string,
  { secrets, source, place }: { secrets: (ref: string) => Promise<string> | string; source: string; place?: string },
): Promise<string> {
  let secret: string;
  try {
    secret = credentialOf(await secrets(ref));
  } catch (thrown) {
    throw noSecret(ref, source, thrown, place);
  }
  if (secret === "") throw noSecret(ref, source, undefined, place);
  return secret;
}

export function noSecret(ref: string, source: string, cause: unknown, place = source): Problem {
  return sourceProblem(
    "source.wrong-password",
    place,
    `The secret ${ref} of the source ${source} is missing.`,
    "Set the environment variable, or write the file.",
    cause,
  );
}

export function fileProblem(thrown: unknown, file: string): Problem {
  if (thrown instanceof Problem) return thrown;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  if (code === "ENOENT") {
    return sourceProblem(
      "source.missing-file",
      file,
      `The file ${file} is missing.`,
      "Export it again, or correct `files` in the configuration.",
      thrown,
    );
  }
  if (code === "Z_BUF_ERROR") {
    return sourceProblem(
      "source.half-read",
      file,
      `The compressed file ${file} is cut off.`,
      "Export it again.",
      thrown,
    );
  }
  if (code.startsWith("Z_")) {
    return sourceProblem(
      "source.wrong-shape",
      file,
      `The file ${file} is not valid gzip.`,
      "Export it again, or set `gzip: false`.",
      thrown,
    );
  }
  if (thrown instanceof UnfitFile) {
    return sourceProblem(
      "source.unreadable-file",
      file,
      `The file ${file} cannot be used: ${thrown.message}.`,
      "Put a regular file there, not a pipe, a device or a link to a file in another place.",
      thrown,
    );
  }
  const reasons: Record<string, string> = {
    EISDIR: "it is a folder",
    EACCES: "this user may not read it",
    EPERM: "this user may not read it",
  };
  return sourceProblem(
    "source.unreadable-file",
    file,
    `The file ${file} cannot be read: ${reasons[code] ?? (code === "" ? messageOf(thrown) : code)}.`,
    "Check that this user may read the file, and that its disk is available.",
    thrown,
  );
}

export interface Issue {
  path: string[];
  message: string;
}

/** Placeholder that no list has as a column, so that a person must choose one. */
export const toChoose = "CHOOSE_A_COLUMN";
