// The parts of ECharts that the page uses; what is not listed here is not in the file.
import { BarChart, CustomChart, LineChart, PieChart, ScatterChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from 'echarts/components';
import { init, use, type ECharts, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

use([
  BarChart, CustomChart, LineChart, PieChart, ScatterChart,
  GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, SVGRenderer,
]);

export { init, type ECharts, type EChartsCoreOption };
