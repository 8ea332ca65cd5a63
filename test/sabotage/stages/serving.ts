import { serving } from "../breaks/serving.ts";
import { stage } from "../stage.ts";

stage(serving);
