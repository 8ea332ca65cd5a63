import { closing } from "../breaks/closing.ts";
import { stage } from "../stage.ts";

stage(closing);
