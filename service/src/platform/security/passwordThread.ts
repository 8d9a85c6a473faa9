// The script of a thread that hashes passwords.
import { answerPasswordTasks } from './passwordTasks.ts';

answerPasswordTasks();
