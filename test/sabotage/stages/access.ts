import { access } from "../breaks/access.ts";
import { stage } from "../stage.ts";

stage(access);
