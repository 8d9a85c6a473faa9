// The script of the threads that hash passwords in tests. It does what the service's own does, at a
// cost low enough for a thousand sign-ins. The real cost is tested in
// test/service/platform/security/passwords.test.ts.
import { answerPasswordTasks } from '../../service/src/platform/security/passwordTasks.ts';

answerPasswordTasks({ memoryCost: 8, timeCost: 1 });
