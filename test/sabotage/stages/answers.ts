import { answers } from "../breaks/answers.ts";
import { stage } from "../stage.ts";

stage(answers);
