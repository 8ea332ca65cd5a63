import { exitCodes, Problem } from "../../base/errors.ts";

/** Something that only a person can say. */
export interface Question {
  /** How an answers file calls it. */
  id: string;
  text: string;
  /** What holds where nothing is said; undefined: something has to be said. */
  usual?: string | undefined;
  /** The only words that may be said, each with what it means. */
  choices?: readonly { word: string; means: string }[] | undefined;
  /** What is typed is shown nowhere, and no file may hold it. */
  hidden?: true;
  /** Why an answer cannot be taken; undefined: it can. */
  refusal?: ((answer: string) => string | undefined) | undefined;
}

/** Somebody who answers: at a terminal, or by a file that was written before. */
export interface Person {
  /** What is said, without blanks around it. Throws a Problem where nobody answers any more. */
  ask(question: Question): Promise<string>;
  tell(text: string): void;
  /** What was said leads nowhere: says why, and returns where it can be asked again; throws the problem elsewhere. */
  hear(problem: Problem): void;
  /** All was asked. Throws a Problem where something was answered that nobody asked. */
  end(): void;
}

/** The person left before the end. Nothing is written by then. */
export function cancelled(): Problem {
  return new Problem({
    code: "init.cancelled",
    message: "it was stopped before the end, and nothing was written",
    cure: "begin again with `crm-sync init --interactive`",
    exitCode: exitCodes.other,
  });
}

/** Yes or no. */
export async function confirms(person: Person, id: string, text: string, usual: "yes" | "no"): Promise<boolean> {
  const choices = [
    { word: "yes", means: "" },
    { word: "no", means: "" },
  ];
  return (await person.ask({ id, text, usual, choices })) === "yes";
}
