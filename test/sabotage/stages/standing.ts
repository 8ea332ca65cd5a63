import { standing } from "../breaks/standing.ts";
import { stage } from "../stage.ts";

stage(standing);
