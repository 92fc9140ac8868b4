// Vite plugin: answers the requests of a served page with a document of real data while developing.
import type { Plugin } from 'vite';
import { documentOf } from '../tests/document.mjs';

export function serveDocument(): Plugin {
  return {
    name: 'serve-document',
    configureServer(server) {
      const report = documentOf();
      const answers = new Map<string, unknown>([['/api/report', { ...report, live: true }]]);
      for (const profile of report.profiles) answers.set(`/api/profiles/${profile.id}`, profile);
      server.middlewares.use((request, response, next) => {
        const answer = answers.get(request.url ?? '');
        if (answer === undefined) return next();
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer));
      });
    },
  };
}
