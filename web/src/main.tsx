// Starts the page.
import { render } from 'preact';
import { App } from './app';
import { openSource } from './data/open';
import './style.css';
import './components.css';
import './pages/analysis.css';

render(<App source={openSource()} />, document.getElementById('app')!);
