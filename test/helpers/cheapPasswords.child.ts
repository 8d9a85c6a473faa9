// The script of the threads that hash the passwords of tests: as the service's own, at a cost that a
// thousand sign-ins can bear. test/service/platform/security/passwords.test.ts proves the real one.
import { answerPasswordTasks } from '../../service/src/platform/security/passwordTasks.ts';

answerPasswordTasks({ memoryCost: 8, timeCost: 1 });
