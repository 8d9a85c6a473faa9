import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from '@jest/globals';
import { startTestService } from '../../../helpers/service.ts';

it('a stop waits for a request under way, not for a connection that has sent nothing', async () => {
  const service = await startTestService();
  const { port } = new URL(service.url);
  const silent = connect(Number(port), '127.0.0.1').resume();
  const asking = connect(Number(port), '127.0.0.1');
  asking.write('POST /api/chat/sessions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n');
  asking.write('content-type: application/json\r\ncontent-length: 2\r\n\r\n{');
  const [going] = await once(asking, 'data');
  expect(String(going)).toContain('100 Continue');
  const stopped = service.stop();
  await once(silent, 'close');
  asking.write('}');
  const [answer] = await once(asking, 'data');
  expect(String(answer)).toContain('201 Created');
  await stopped;
});
