import { figures } from "../breaks/figures.ts";
import { stage } from "../stage.ts";

stage(figures);
